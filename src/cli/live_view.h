// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "trainer/run/folder/history.h"
#include "trainer/run/tracking/run_entry.h"

namespace trainer::cli {

/// The characters that draw a curve: block elements of one to eight eighths, or '.', ':' and '#'.
enum class Ink { kBlocks, kAscii };

/// Returns `height` lines, the top one first. Column i is filled up to `values[i]`, which must be
/// at least 0; the largest value fills all lines, and every value above 0 is visible. Lines have no
/// trailing spaces.
std::vector<std::string> draw_curve(std::span<const double> values, int height, Ink ink);

/// Returns a line such as "epoch  3/20  train 0.4266 88.31 %  val 0.2205 95.56 %  12 ms".
std::string epoch_line(const run::EpochRecord& epoch, int64_t num_epochs);

/// Returns the lines that a terminal of `width` columns shows about a run: epochs done and time
/// left, the losses of all epochs as a curve, and a line for each of the last epochs. No line is
/// longer than `width`.
std::vector<std::string> live_view(const tracking::RunEntry& entry, const run::History& history,
                                   int width, Ink ink);

}  // namespace trainer::cli
