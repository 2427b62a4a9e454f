// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/error.h"

#include <filesystem>
#include <new>
#include <stdexcept>
#include <system_error>

#include <fmt/format.h>

namespace trainer {
namespace {

namespace fs = std::filesystem;

Error file_error(const fs::filesystem_error& error) {
  const std::string reason = error.code().message();
  if (error.path1().empty()) return {ErrorKind::kFileSystem, "file system: " + reason};
  return {ErrorKind::kFileSystem, fmt::format("{}: {}", error.path1().string(), reason)};
}

// A thread that cannot start most likely lacks memory for its stack, hence kOutOfMemory.
Error thread_error(const std::system_error& error) {
  return {ErrorKind::kOutOfMemory, fmt::format("cannot start a thread ({}); raise the limit on "
                                               "memory or processes (ulimit -v, ulimit -u)",
                                               error.what())};
}

}  // namespace

Error out_of_memory(const std::string& what) {
  return {ErrorKind::kOutOfMemory, what + "; use a smaller model, batch size or data file"};
}

Error as_error(const std::exception& exception) {
  if (const auto* error = dynamic_cast<const Error*>(&exception)) return *error;
  // Containers throw length_error for sizes beyond their maximum, which no memory can hold.
  if (dynamic_cast<const std::bad_alloc*>(&exception) != nullptr ||
      dynamic_cast<const std::length_error*>(&exception) != nullptr) {
    return out_of_memory("out of memory");
  }
  if (const auto* error = dynamic_cast<const fs::filesystem_error*>(&exception)) {
    return file_error(*error);
  }
  const auto* error = dynamic_cast<const std::system_error*>(&exception);
  if (error != nullptr && error->code() == std::errc::resource_unavailable_try_again) {
    return thread_error(*error);
  }
  return {ErrorKind::kRuntime, exception.what()};
}

}  // namespace trainer
