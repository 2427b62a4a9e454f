// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "trainer/run/folder/history.h"
#include "trainer/run/tracking/run_entry.h"

#include "cli/curve.h"

namespace trainer::cli {

/// Returns a line such as "epoch  3/20  train 0.4266 88.31 %  val 0.2205 95.56 %  12 ms".
std::string epoch_line(const run::EpochRecord& epoch, int64_t num_epochs);

/// Returns the lines that a terminal of `width` columns shows about a run: epochs done and time
/// left, the losses of all epochs as a curve, and a line for each of the last epochs. No line is
/// longer than `width`.
std::vector<std::string> live_view(const tracking::RunEntry& entry, const run::History& history,
                                   int width, Ink ink);

}  // namespace trainer::cli
