// SPDX-License-Identifier: Apache-2.0
#include "report/tensorboard/confusion_image.h"

#include <zlib.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace trainer::tensorboard {
namespace {

using Pixel = std::vector<int>;

Pixel pixel(const Image& image, int64_t x, int64_t y) {
  const auto* begin = image.pixels.data() + 3 * (y * image.width + x);
  return {begin, begin + 3};
}

TEST(ConfusionImageTest, ACellIsDarkerTheMoreRowsItHas) {
  const Image image = draw_confusion({.num_classes = 2, .counts = {4, 0, 3, 1}});
  EXPECT_EQ(image.width, 3 * 36);
  EXPECT_EQ(image.height, 3 * 36);
  EXPECT_EQ(pixel(image, 0, 0), (Pixel{255, 255, 255}));
  EXPECT_EQ(pixel(image, 36, 36), (Pixel{8, 48, 107}));       // all of class 0
  EXPECT_EQ(pixel(image, 72, 36), (Pixel{247, 251, 255}));    // none
  EXPECT_EQ(pixel(image, 36, 72), (Pixel{68, 99, 144}));      // three of four
  EXPECT_EQ(pixel(image, 107, 107), (Pixel{187, 200, 218}));  // one of four
}

TEST(ConfusionImageTest, AClassWithoutRowsAndManyClassesHaveNoNumbers) {
  const Image empty = draw_confusion({.num_classes = 1, .counts = {0}});
  for (int64_t x = 36; x < 72; ++x) EXPECT_EQ(pixel(empty, x, 54), (Pixel{247, 251, 255}));
  const Image many =
      draw_confusion({.num_classes = 1000, .counts = std::vector<int64_t>(1'000'000, 1)});
  EXPECT_EQ(many.width, 1000);
}

TEST(PngTest, HasTheChunksOfThePngSpecification) {
  const Image image{.width = 2, .height = 1, .pixels = {1, 2, 3, 4, 5, 6}};
  const std::string bytes = png_bytes(image);
  std::string hex;
  for (const char byte : bytes) hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  // Python: zlib.crc32(b"IHDR" + struct.pack(">IIBBBBB", 2, 1, 8, 2, 0, 0, 0)) == 0x7b40e8dd
  EXPECT_EQ(hex.substr(0, 66),
            "89504e470d0a1a0a"
            "0000000d"
            "49484452"
            "00000002"
            "00000001"
            "0802000000"
            "7b40e8dd");
  EXPECT_EQ(hex.substr(hex.size() - 24), "0000000049454e44ae426082");
  std::array<unsigned char, 16> row{};
  uLongf size = row.size();
  const auto* data = reinterpret_cast<const Bytef*>(bytes.data()) + 33 + 8;
  ASSERT_EQ(uncompress(row.data(), &size, data, bytes.size() - 33 - 8 - 4 - 12), Z_OK);
  EXPECT_EQ(std::vector<int>(row.begin(), row.begin() + static_cast<int64_t>(size)),
            (std::vector<int>{0, 1, 2, 3, 4, 5, 6}));
}

}  // namespace
}  // namespace trainer::tensorboard
