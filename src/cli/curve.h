// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

namespace trainer::cli {

/// What a curve is drawn with: block characters in eighths of a line, or '.', ':' and '#'.
enum class Ink { kBlocks, kAscii };

/// `height` lines, the highest first, in which column i is filled from the bottom up to
/// `values[i]`; the largest value fills all lines, and no value above 0 is invisible. Values are at
/// least 0; lines have no spaces at their end.
std::vector<std::string> draw_curve(std::span<const double> values, int height, Ink ink);

}  // namespace trainer::cli
