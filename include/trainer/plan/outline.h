// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trainer/plan/schedule.h"

namespace trainer::config {
struct TrainingConfig;
}

namespace trainer::plan {

inline constexpr std::size_t kMostReductions = 5;  // that are told

/// What a run will do, as far as it is known before it.
struct Outline {
  ScheduleOptions schedule;  // with all steps and those of the warm-up
  int64_t epochs = 0;
  int64_t samples_per_step = 0;
  int64_t samples_of_last_step = 0;  // of each epoch
  int64_t steps_per_epoch = 0;
  /// Steps that are done when the rate is reduced, kMostReductions at most: by `step`, and by
  /// reduce_on_plateau if no epoch were better than the first one; empty for other schedules.
  std::vector<int64_t> first_reductions;
};

/// The outline for a training part of `num_train` rows.
Outline make_outline(const config::TrainingConfig& training, int64_t num_train);

/// Steps that follow each other, counted from 1 as in metrics.jsonl.
struct Stretch {
  int64_t epoch = 1;
  int64_t first_step = 1;
  int64_t last_step = 1;
  double first_rate = 0;  // learning rates, without the reductions of reduce_on_plateau
  double last_rate = 0;
};

/// All epochs of the run, one by one.
std::vector<Stretch> epoch_stretches(const Outline& outline);

/// At most `most` (3 or more) stretches that show the course of a run: its epochs, or some of them
/// with the first, the last and those where the warm-up or the rise ends, or parts of them where
/// they are few.
std::vector<Stretch> telling_stretches(const Outline& outline, int64_t most);

}  // namespace trainer::plan
