// SPDX-License-Identifier: Apache-2.0
#include "data/file_bytes.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <system_error>

#include <fmt/format.h>

namespace trainer::data {

Error data_error(std::string_view place, std::string_view problem) {
  return {ErrorKind::kData, fmt::format("{}: {}", place, problem)};
}

namespace {

void require_regular_file(const std::filesystem::path& path) {
  std::error_code problem;
  const std::filesystem::file_status status = std::filesystem::status(path, problem);
  if (status.type() == std::filesystem::file_type::not_found) {
    throw data_error(path.string(), "no such file");
  }
  if (problem) throw data_error(path.string(), "cannot be read: " + problem.message());
  if (std::filesystem::is_directory(status)) {
    throw data_error(path.string(), "is a folder, expected a file");
  }
  if (!std::filesystem::is_regular_file(status)) {
    throw data_error(path.string(), "is not a regular file");
  }
}

}  // namespace

FileHandle open_file(const std::filesystem::path& path) {
  require_regular_file(path);
  FileHandle file(std::fopen(path.c_str(), "rb"));
  if (!file) {
    throw data_error(path.string(), fmt::format("cannot be read: {}", std::strerror(errno)));
  }
  return file;
}

size_t read_some(std::FILE* file, const std::filesystem::path& path, void* buffer, size_t size) {
  const size_t count = std::fread(buffer, 1, size, file);
  if (count < size && std::ferror(file) != 0) {
    throw data_error(path.string(), fmt::format("cannot be read: {}", std::strerror(errno)));
  }
  return count;
}

std::string read_file(const std::filesystem::path& path) {
  const FileHandle file = open_file(path);
  std::error_code unknown_size;
  const uintmax_t size = std::filesystem::file_size(path, unknown_size);
  // One byte more than expected, so that the end is seen without another buffer.
  std::string content(unknown_size ? 1 : static_cast<size_t>(size) + 1, '\0');
  size_t used = 0;
  while (const size_t count =
             read_some(file.get(), path, content.data() + used, content.size() - used)) {
    used += count;
    if (used == content.size()) content.resize(2 * used);
  }
  content.resize(used);
  return content;
}

}  // namespace trainer::data
