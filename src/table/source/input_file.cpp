// SPDX-License-Identifier: Apache-2.0
#include "table/source/input_file.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/io/checksum.h"
#include "trainer/base/signals.h"

#include "table/error.h"

namespace trainer::data {

namespace {

void require_file(const std::filesystem::path& path, InputFile::Kind kind) {
  std::error_code problem;
  const std::filesystem::file_status status = std::filesystem::status(path, problem);
  if (status.type() == std::filesystem::file_type::not_found) {
    throw data_error(path.string(), "no such file");
  }
  if (problem) throw data_error(path.string(), "cannot be read: " + problem.message());
  if (std::filesystem::is_directory(status)) {
    throw data_error(path.string(), "is a folder, expected a file");
  }
  // A pipe could be read only once, and a device might never end.
  if (kind == InputFile::Kind::kRegular && !std::filesystem::is_regular_file(status)) {
    throw data_error(path.string(), "is not a regular file");
  }
}

// NFS and FUSE interrupt calls; so does a signal that asks to stop, and then nobody waits on.
bool is_to_be_repeated(int code) { return code == EINTR && stop_request() == 0; }

}  // namespace

InputFile::InputFile(const std::filesystem::path& path, Kind kind)
    : path_(path), name_(path.string()), kind_(kind) {
  if (kind == Kind::kAny && path == "-") {
    name_ = "standard input";
    file_.reset(stdin);
  } else {
    require_file(path, kind);
    std::FILE* file = nullptr;
    do {
      file = std::fopen(path.c_str(), "rb");
    } while (file == nullptr && is_to_be_repeated(errno));
    file_.reset(file);
  }
  if (!file_) throw data_error(name_, fmt::format("cannot be read: {}", std::strerror(errno)));
  std::setvbuf(file_.get(), nullptr, _IONBF, 0);  // all reads are large
  fingerprint_.path = std::filesystem::absolute(path).lexically_normal().string();
}

size_t InputFile::read(std::span<std::byte> buffer) {
  size_t count = std::fread(buffer.data(), 1, buffer.size(), file_.get());
  while (count < buffer.size() && std::ferror(file_.get()) != 0) {
    if (!is_to_be_repeated(errno)) {
      throw data_error(name_, fmt::format("cannot be read: {}", std::strerror(errno)));
    }
    std::clearerr(file_.get());
    count += std::fread(buffer.data() + count, 1, buffer.size() - count, file_.get());
  }
  fingerprint_.num_bytes += count;
  if (kind_ == Kind::kRegular) fingerprint_.crc32 = crc32(buffer.first(count), fingerprint_.crc32);
  return count;
}

uint64_t InputFile::size_hint() const {
  std::error_code unknown;
  const uintmax_t size = std::filesystem::file_size(path_, unknown);
  return unknown ? 0 : static_cast<uint64_t>(size);
}

Fingerprint InputFile::fingerprint() {
  std::vector<std::byte> buffer(size_t{1} << 18);
  while (read(buffer) > 0) {
  }
  return fingerprint_;
}

}  // namespace trainer::data
