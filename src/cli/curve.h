// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

namespace trainer::cli {

/// The characters of a curve: blocks in eighths of a line, or '.', ':' and '#'.
enum class Ink { kBlocks, kAscii };

/// `height` lines from top to bottom. Column i is filled up to `values[i]`, which is at least 0;
/// the largest value fills all lines, and every value above 0 is visible. No trailing spaces.
std::vector<std::string> draw_curve(std::span<const double> values, int height, Ink ink);

}  // namespace trainer::cli
