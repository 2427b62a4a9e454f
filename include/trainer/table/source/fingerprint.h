// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace trainer::data {

/// Enough of a data file to notice later that it changed.
struct Fingerprint {
  std::string path;  // absolute
  uint64_t num_bytes = 0;
  uint32_t crc32 = 0;

  bool operator==(const Fingerprint&) const = default;
};

/// Throws Error(kData) when the file cannot be read.
Fingerprint fingerprint(const std::filesystem::path& path);

/// What is compared of a file: "987 bytes with CRC-32 fedcba98".
std::string content_text(const Fingerprint& file);

}  // namespace trainer::data
