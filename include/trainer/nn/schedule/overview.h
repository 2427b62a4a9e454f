// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trainer/nn/schedule/learning_rate.h"

namespace trainer::config {
struct TrainingConfig;
}

namespace trainer::schedule {

inline constexpr std::size_t kMaxReductions = 5;  // the most reductions that an overview lists

/// The steps and learning rates of a run that are known before it starts.
struct ScheduleOverview {
  ScheduleOptions schedule;
  int64_t epochs = 0;
  int64_t samples_per_step = 0;
  int64_t samples_of_last_step = 0;  // samples of the last step of each epoch
  int64_t steps_per_epoch = 0;
  /// The number of steps before each reduction of the rate, up to kMaxReductions: for `step`, or
  /// for reduce_on_plateau under the assumption that no epoch is better than the first. Empty for
  /// other schedules.
  std::vector<int64_t> first_reductions;
};

/// Computes the overview for a training split of `num_train` rows.
ScheduleOverview make_overview(const config::TrainingConfig& training, int64_t num_train);

/// A range of consecutive steps, counted from 1 as in metrics.jsonl.
struct Segment {
  int64_t epoch = 1;
  int64_t first_step = 1;
  int64_t last_step = 1;
  double first_rate = 0;  // learning rates, without the reductions of reduce_on_plateau
  double last_rate = 0;
};

/// Returns one segment for each epoch of the run.
std::vector<Segment> epoch_segments(const ScheduleOverview& overview);

/// Returns at most `max_segments` (3 or more) segments that summarize a run: one for each epoch;
/// for longer runs some epochs, including the first, the last and the one in which the warm-up or
/// the rise ends; for short runs parts of epochs.
std::vector<Segment> summary_segments(const ScheduleOverview& overview, int64_t max_segments);

}  // namespace trainer::schedule
