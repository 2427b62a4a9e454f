// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "trainer/nn/schedule/learning_rate.h"

namespace trainer::config {
struct ScheduleConfig;
}

namespace trainer::schedule {

/// The state of the schedule reduce_on_plateau.
struct PlateauState {
  std::optional<double> best;  // best value of the metric so far
  /// Consecutive bad epochs since the best epoch, a reduction or a cooldown.
  int64_t bad_epochs = 0;
  int64_t cooldown_left = 0;  // remaining epochs of the cooldown
  int64_t num_reductions = 0;

  bool operator==(const PlateauState&) const = default;
};

/// Whether larger values of a metric are better.
enum class Better { kLower, kHigher };

/// The state after an epoch with the value `metric`, as torch.optim.lr_scheduler.ReduceLROnPlateau
/// (threshold_mode "rel", eps 0) defines it: an epoch is bad unless it improves on the best one by
/// the fraction `threshold`; more than `patience` bad epochs in a row reduce the rate, and the
/// `cooldown` epochs after that are never bad. A value that is not finite is bad. A rate that has
/// reached the minimum in `options` is not reduced.
PlateauState after_epoch(const PlateauState& state, double metric, Better better,
                         const config::ScheduleConfig& schedule, const ScheduleOptions& options);

}  // namespace trainer::schedule
