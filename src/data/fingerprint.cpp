// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/fingerprint.h"

#include <cstddef>
#include <span>
#include <vector>

#include "trainer/core/checksum.h"

#include "data/file_bytes.h"

namespace trainer::data {

Fingerprint fingerprint(const std::filesystem::path& path) {
  const FileHandle file = open_file(path);
  Fingerprint result;
  result.path = std::filesystem::absolute(path).lexically_normal().string();
  std::vector<std::byte> buffer(size_t{1} << 18);
  while (const size_t count = read_some(file.get(), path, buffer.data(), buffer.size())) {
    result.num_bytes += count;
    result.crc32 = crc32(std::span(buffer.data(), count), result.crc32);
  }
  return result;
}

}  // namespace trainer::data
