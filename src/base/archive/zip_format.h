// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

// The constants of the zip format (APPNOTE.TXT of PKWARE, version 6.3), for the writer and the
// reader.
namespace trainer::archive {

static_assert(std::endian::native == std::endian::little, "zip fields and tensors are copied raw");

inline constexpr uint32_t kLocalSignature = 0x04034B50;
inline constexpr uint32_t kCentralSignature = 0x02014B50;
inline constexpr uint32_t kEndSignature = 0x06054B50;
inline constexpr uint32_t kEnd64Signature = 0x06064B50;
inline constexpr uint32_t kLocatorSignature = 0x07064B50;

inline constexpr std::size_t kLocalSize = 30;
inline constexpr std::size_t kCentralSize = 46;
inline constexpr std::size_t kEndSize = 22;
inline constexpr std::size_t kEnd64Size = 56;
inline constexpr std::size_t kLocatorSize = 20;

inline constexpr uint16_t kVersion = 20;    // needed to read the file: 2.0
inline constexpr uint16_t kVersion64 = 45;  // version 4.5, needed for 64-bit fields
inline constexpr uint16_t kStored = 0;
inline constexpr uint16_t kMinDosDate = 0x21;  // 1 January 1980
inline constexpr uint16_t kEncryptedFlag = 1;
inline constexpr uint16_t kSizesFollowFlag = 8;  // sizes and CRC-32 follow the bytes
inline constexpr uint16_t kExtra64 = 0x0001;
inline constexpr uint16_t kExtraPadding = 0x4246;      // "FB", the padding field of PyTorch
inline constexpr uint32_t kIn64BitField = 0xFFFFFFFF;  // the value is in a 64-bit field
inline constexpr uint16_t kSee64Count = 0xFFFF;

}  // namespace trainer::archive
