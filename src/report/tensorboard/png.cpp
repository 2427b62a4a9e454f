// SPDX-License-Identifier: Apache-2.0
#include "report/tensorboard/png.h"

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <string_view>

namespace trainer::tensorboard {
namespace {

std::string big_endian(uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xFF);
  return bytes;
}

const Bytef* as_bytes(std::string_view text) { return reinterpret_cast<const Bytef*>(text.data()); }

// Returns a chunk: length, type, data, and the checksum of type and data.
std::string chunk(std::string_view type, std::string_view data) {
  const std::string body = std::string(type) + std::string(data);
  const uLong checksum = crc32(0, as_bytes(body), static_cast<uInt>(body.size()));
  return big_endian(static_cast<uint32_t>(data.size())) + body +
         big_endian(static_cast<uint32_t>(checksum));
}

std::string compressed(std::string_view text) {
  uLongf size = compressBound(text.size());
  std::string result(size, '\0');
  if (compress(reinterpret_cast<Bytef*>(result.data()), &size, as_bytes(text), text.size()) !=
      Z_OK) {
    throw std::bad_alloc();  // the size is right, so there is no other error
  }
  result.resize(size);
  return result;
}

}  // namespace

std::string png_bytes(const Image& image) {
  constexpr std::string_view kSignature = "\x89PNG\r\n\x1A\n";
  constexpr std::string_view kEightBitRgb("\x08\x02\x00\x00\x00", 5);
  constexpr int64_t kChannels = 3;
  const auto row_bytes = static_cast<std::size_t>(kChannels * image.width);
  std::string rows;
  for (std::size_t row = 0; row < static_cast<std::size_t>(image.height); ++row) {
    rows += '\0';  // no filter in this row
    rows.append(reinterpret_cast<const char*>(image.pixels.data()) + row * row_bytes, row_bytes);
  }
  return std::string(kSignature) +
         chunk("IHDR", big_endian(static_cast<uint32_t>(image.width)) +
                           big_endian(static_cast<uint32_t>(image.height)) +
                           std::string(kEightBitRgb)) +
         chunk("IDAT", compressed(rows)) + chunk("IEND", "");
}

}  // namespace trainer::tensorboard
