// SPDX-License-Identifier: Apache-2.0
#include "data/file_bytes.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "trainer/core/checksum.h"

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

InputFile::InputFile(const std::filesystem::path& path) : path_(path) {
  require_regular_file(path);
  file_.reset(std::fopen(path.c_str(), "rb"));
  if (!file_) {
    throw data_error(path.string(), fmt::format("cannot be read: {}", std::strerror(errno)));
  }
  std::setvbuf(file_.get(), nullptr, _IONBF, 0);  // all reads are large
  fingerprint_.path = std::filesystem::absolute(path).lexically_normal().string();
}

size_t InputFile::read(std::span<std::byte> buffer) {
  const size_t count = std::fread(buffer.data(), 1, buffer.size(), file_.get());
  if (count < buffer.size() && std::ferror(file_.get()) != 0) {
    throw data_error(path_.string(), fmt::format("cannot be read: {}", std::strerror(errno)));
  }
  fingerprint_.num_bytes += count;
  fingerprint_.crc32 = crc32(buffer.first(count), fingerprint_.crc32);
  return count;
}

uint64_t InputFile::likely_bytes() const {
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

std::string read_all(InputFile& file) {
  // One byte more than expected, so that the end is seen without another buffer.
  std::string content(static_cast<size_t>(file.likely_bytes()) + 1, '\0');
  size_t used = 0;
  while (const size_t count = file.read(std::as_writable_bytes(std::span(content).subspan(used)))) {
    used += count;
    if (used == content.size()) content.resize(2 * used);
  }
  content.resize(used);
  return content;
}

void require_text(const std::string& file, const std::string& text) {
  const size_t nul = text.find('\0');
  if (nul == std::string::npos) return;
  const auto line =
      1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(nul), '\n');
  throw data_error(fmt::format("{}:{}", file, line),
                   "a NUL byte, so this is not UTF-8 text; a table saved as UTF-16 must be "
                   "converted");
}

}  // namespace trainer::data
