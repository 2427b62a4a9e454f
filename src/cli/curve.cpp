// SPDX-License-Identifier: Apache-2.0
#include "cli/curve.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace trainer::cli {
namespace {

constexpr int kEighths = 8;

const char* glyph(int eighths, Ink ink) {
  static constexpr std::array<const char*, kEighths + 1> kBlocks = {" ", "▁", "▂", "▃", "▄",
                                                                    "▅", "▆", "▇", "█"};
  static constexpr std::array<const char*, kEighths + 1> kAscii = {" ", ".", ".", ".", ":",
                                                                   ":", ":", "#", "#"};
  return (ink == Ink::kBlocks ? kBlocks : kAscii).at(static_cast<std::size_t>(eighths));
}

}  // namespace

std::vector<std::string> draw_curve(std::span<const double> values, int height, Ink ink) {
  const double max_value = values.empty() ? 0 : *std::max_element(values.begin(), values.end());
  std::vector<int> levels;  // in eighths of a line
  levels.reserve(values.size());
  for (const double value : values) {
    const int level =
        max_value > 0 ? static_cast<int>(std::lround(value / max_value * height * kEighths)) : 0;
    levels.push_back(std::max(level, value > 0 ? 1 : 0));
  }
  std::vector<std::string> lines;
  lines.reserve(static_cast<std::size_t>(height));
  for (int row = height - 1; row >= 0; --row) {
    std::string line;
    for (const int level : levels) {
      line += glyph(std::clamp(level - row * kEighths, 0, kEighths), ink);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace trainer::cli
