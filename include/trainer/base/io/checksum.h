// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace trainer {

/// The CRC-32 of `bytes` as zip, gzip and PNG use it (ISO 3309), continuing from `crc`.
uint32_t crc32(std::span<const std::byte> bytes, uint32_t crc = 0);

}  // namespace trainer
