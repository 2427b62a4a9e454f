// SPDX-License-Identifier: Apache-2.0
#include "report/tensorboard/confusion_image.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <new>
#include <numeric>
#include <span>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace trainer::tensorboard {
namespace {

using Color = std::array<uint8_t, 3>;
constexpr Color kLight = {247, 251, 255};
constexpr Color kDark = {8, 48, 107};
constexpr Color kBlack = {0, 0, 0};
constexpr int64_t kMaxLabelled = 30;

// Digits of 3 x 5 pixels. Each three bits are a row, the top row first.
constexpr int64_t kGlyphWidth = 3;
constexpr int64_t kGlyphHeight = 5;
constexpr std::array<uint16_t, 10> kDigits = {
    0b111'101'101'101'111, 0b010'110'010'010'111, 0b111'001'111'100'111, 0b111'001'111'001'111,
    0b101'101'111'001'001, 0b111'100'111'001'111, 0b111'100'111'101'111, 0b111'001'010'010'010,
    0b111'101'111'101'111, 0b111'101'111'001'111};

struct Place {
  int64_t x = 0;
  int64_t y = 0;
};

void fill(Image& image, const Place& corner, int64_t width, int64_t height, const Color& color) {
  for (int64_t y = corner.y; y < corner.y + height; ++y) {
    for (int64_t x = corner.x; x < corner.x + width; ++x) {
      std::copy(color.begin(), color.end(), image.pixels.begin() + 3 * (y * image.width + x));
    }
  }
}

void draw_digit(Image& image, const Place& corner, int64_t scale, int digit, const Color& color) {
  for (int64_t i = 0; i < kGlyphWidth * kGlyphHeight; ++i) {
    const auto bit = static_cast<unsigned>(kGlyphWidth * kGlyphHeight - 1 - i);
    if ((kDigits[static_cast<std::size_t>(digit)] >> bit & 1U) == 0) continue;
    fill(image, {corner.x + i % kGlyphWidth * scale, corner.y + i / kGlyphWidth * scale}, scale,
         scale, color);
  }
}

// Draws the number in the middle of a square cell.
void draw_number(Image& image, const Place& cell, int64_t cell_size, int64_t number,
                 const Color& color) {
  const int64_t scale = cell_size / (3 * (kGlyphWidth + 1));
  const std::string digits = fmt::to_string(number);
  const int64_t width = (std::ssize(digits) * (kGlyphWidth + 1) - 1) * scale;
  Place place{cell.x + (cell_size - width) / 2, cell.y + (cell_size - kGlyphHeight * scale) / 2};
  for (const char digit : digits) {
    draw_digit(image, place, scale, digit - '0', color);
    place.x += (kGlyphWidth + 1) * scale;
  }
}

Color mixed(double share) {
  Color color{};
  for (std::size_t i = 0; i < color.size(); ++i) {
    color[i] = static_cast<uint8_t>(std::lround(kLight[i] + share * (kDark[i] - kLight[i])));
  }
  return color;
}

int64_t cell_size_for(int64_t num_classes) {
  constexpr int64_t kLarge = 36;
  constexpr int64_t kMedium = 24;
  constexpr int64_t kImage = 512;
  constexpr int64_t kFew = 12;
  if (num_classes <= kFew) return kLarge;
  return num_classes <= kMaxLabelled ? kMedium : std::max<int64_t>(1, kImage / num_classes);
}

}  // namespace

Image draw_confusion(const metrics::ConfusionMatrix& confusion) {
  const int64_t n = confusion.num_classes;
  const int64_t size = cell_size_for(n);
  const bool is_labelled = n <= kMaxLabelled;
  const int64_t first = is_labelled ? size : 0;
  Image image{.width = first + n * size, .height = first + n * size};
  image.pixels.assign(static_cast<std::size_t>(3 * image.width * image.height), 255);
  for (int64_t row = 0; row < n; ++row) {
    const std::span<const int64_t> counts(&confusion.counts[static_cast<std::size_t>(row * n)],
                                          static_cast<std::size_t>(n));
    const auto total =
        static_cast<double>(std::accumulate(counts.begin(), counts.end(), int64_t{0}));
    const Place line{0, first + row * size};
    if (is_labelled) {
      draw_number(image, line, size, row, kBlack);
      draw_number(image, {line.y, 0}, size, row, kBlack);
    }
    for (int64_t column = 0; column < n; ++column) {
      const double share =
          total > 0 ? static_cast<double>(counts[static_cast<std::size_t>(column)]) / total : 0;
      const Place cell{first + column * size, line.y};
      fill(image, cell, size, size, mixed(share));
      if (!is_labelled || share == 0) continue;
      draw_number(image, cell, size, std::lround(100 * share), share > 0.5 ? kLight : kBlack);
    }
  }
  return image;
}

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
