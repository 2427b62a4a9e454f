// SPDX-License-Identifier: Apache-2.0
#include "trainer/table/source/fingerprint.h"

#include <fmt/format.h>

#include "table/source/input_file.h"

namespace trainer::data {

Fingerprint fingerprint(const std::filesystem::path& path) { return InputFile(path).fingerprint(); }

std::string content_text(const Fingerprint& file) {
  return fmt::format("{} bytes with CRC-32 {:08x}", file.num_bytes, file.crc32);
}

}  // namespace trainer::data
