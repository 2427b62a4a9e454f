// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trainer/schedule/learning_rate.h"

namespace trainer::config {
struct TrainingConfig;
}

namespace trainer::schedule {

inline constexpr std::size_t kMaxReductions = 5;  // in a list

/// Steps and learning rates of a run, as far as they are known before it starts.
struct ScheduleOverview {
  ScheduleOptions schedule;
  int64_t epochs = 0;
  int64_t samples_per_step = 0;
  int64_t samples_of_last_step = 0;  // of each epoch
  int64_t steps_per_epoch = 0;
  /// The number of steps before each reduction of the rate, up to kMaxReductions: by `step`, or by
  /// reduce_on_plateau if no epoch were better than the first. Empty for other schedules.
  std::vector<int64_t> first_reductions;
};

/// The overview for a training split of `num_train` rows.
ScheduleOverview make_overview(const config::TrainingConfig& training, int64_t num_train);

/// Consecutive steps, counted from 1 as in metrics.jsonl.
struct Segment {
  int64_t epoch = 1;
  int64_t first_step = 1;
  int64_t last_step = 1;
  double first_rate = 0;  // learning rates, without the reductions of reduce_on_plateau
  double last_rate = 0;
};

/// One segment for each epoch of the run.
std::vector<Segment> epoch_segments(const ScheduleOverview& overview);

/// At most `max_segments` (3 or more) segments that summarize a run: its epochs; if there are more,
/// some of them, including the first, the last and those in which the warm-up or the rise ends; if
/// there are few, parts of epochs.
std::vector<Segment> summary_segments(const ScheduleOverview& overview, int64_t max_segments);

}  // namespace trainer::schedule
