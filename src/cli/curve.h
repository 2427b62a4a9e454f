// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

namespace trainer::cli {

/// The characters that draw a curve: block elements of one to eight eighths, or '.', ':' and '#'.
enum class Ink { kBlocks, kAscii };

/// Returns `height` lines, the top one first. Column i is filled up to `values[i]`, which must be
/// at least 0; the largest value fills all lines, and every value above 0 is visible. Lines have no
/// trailing spaces.
std::vector<std::string> draw_curve(std::span<const double> values, int height, Ink ink);

}  // namespace trainer::cli
