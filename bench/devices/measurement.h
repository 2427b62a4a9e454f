// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "devices/options.h"
#include "devices/plan.h"
#include "devices/results.h"

namespace trainer::bench {

/// The measurements of a row so far.
struct RowTimes {
  std::vector<std::vector<double>> repetitions;  // ms of the timed steps
  std::vector<double> round_medians;             // ms, of all repetitions
  double first_step_ms = 0;
  double warmup_ms = 0;
  uint64_t peak_memory_bytes = 0;
  int64_t memory_growth_bytes = 0;
  int64_t growth_steps = 0;
  double loss_difference = 0;
  std::vector<double> lost_shares;  // of each round, to other programs; empty: unknown
  std::string failure;
};

/// Measures each row as often as `repetitions` [plan.rows] says: for each workload its rows
/// together, in rounds in which each row makes some steps in its turn. `options.num_threads` must
/// be above 0.
std::vector<RowTimes> measure(const Plan& plan, const Options& options,
                              std::span<const int64_t> repetitions);

/// The measured and failed rows in the order of the plan, without the context.
Results collect(const Plan& plan, const Options& options, std::span<const RowTimes> times);

}  // namespace trainer::bench
