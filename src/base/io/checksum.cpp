// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/io/checksum.h"

#include <zlib.h>

namespace trainer {

uint32_t crc32(std::span<const std::byte> bytes, uint32_t crc) {
  // For a null pointer zlib returns the initial value, whatever the length and the crc are.
  if (bytes.empty()) return crc;
  const auto* data = reinterpret_cast<const Bytef*>(bytes.data());
  return static_cast<uint32_t>(::crc32_z(crc, data, bytes.size()));
}

}  // namespace trainer
