// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "trainer/config/types.h"

namespace trainer::config {
struct TrainingConfig;
}

namespace trainer::schedule {

/// The settings of the learning rates of a run. A comment that begins with the names of schedules
/// marks members that only these use.
struct ScheduleOptions {
  config::ScheduleName name = config::ScheduleName::kConstant;
  double peak = 1e-3;  // highest learning rate
  int64_t warmup_steps = 0;
  int64_t total_steps = 1;
  double final_factor = 0.0;     // linear, cosine, one_cycle: last rate as a fraction of `peak`
  double gamma = 0.1;            // step, reduce_on_plateau: factor of a reduction
  int64_t drop_steps = 1;        // step: steps between two reductions
  double rise_fraction = 0.3;    // one_cycle: fraction of the steps in which the rate rises
  double initial_factor = 0.04;  // one_cycle: first rate as a fraction of `peak`
  double min_rate = 0.0;         // reduce_on_plateau: lowest learning rate
  int64_t cycles = 4;            // coslog: number of cosine cycles
};

/// Returns the schedule of a run whose training split has `num_train` rows.
ScheduleOptions schedule_options(const config::TrainingConfig& training, int64_t num_train);

/// The number of samples of an optimizer step, except for the last step of an epoch: batch size
/// times accumulation steps, at most `num_train`.
int64_t samples_per_step(const config::TrainingConfig& training, int64_t num_train);

/// The number of optimizer steps of an epoch over `num_train` rows. The last step may have fewer
/// samples; training.drop_last leaves such a step out.
int64_t steps_per_epoch(const config::TrainingConfig& training, int64_t num_train);

/// The number of samples of an epoch over `num_train` rows: all, or with training.drop_last those
/// of whole steps.
int64_t samples_per_epoch(const config::TrainingConfig& training, int64_t num_train);

/// The learning rate of optimizer step `step` (counted from 0). It is a closed form; the only state
/// is `num_reductions` of nn/schedule/learning_rate.h:
///   step < warmup_steps: peak * (step + 1) / warmup_steps
///   else, with s = step - warmup_steps, t = s / (total_steps - warmup_steps) and f = final_factor:
///   constant: peak;  linear: peak * (1 - (1 - f) t);  cosine: peak * (f + (1 - f)(1 + cos pi t)/2)
///   step: peak * gamma^floor(s / drop_steps)
///   reduce_on_plateau: max(peak * gamma^num_reductions, min_rate)
///   coslog: peak * (1 - cos(2 pi log2(1 + (2^cycles - 1) t)))/2; Holzmueller and others,
///   arXiv:2407.04491
///   one_cycle: with the step p = rise_fraction * total_steps - 1 of the peak, by half a cosine
///   from initial_factor * peak (step 0) to peak (p), and from there to f * peak (the last step)
/// All but coslog equal ConstantLR, LinearLR, CosineAnnealingLR, StepLR, ReduceLROnPlateau and
/// OneCycleLR (two phases, "cos", without momentum cycling) of PyTorch, after a LinearLR for the
/// warm-up.
double learning_rate(const ScheduleOptions& options, int64_t step, int64_t num_reductions = 0);

/// The factor of dropout or weight decay in step `step` of `total_steps`; with t = step /
/// total_steps:
///   constant: 1;  flat_cosine: 1 for t < 1/2, else (1 + cos(pi (2 t - 1)))/2
double schedule_factor(config::FactorSchedule schedule, int64_t step, int64_t total_steps);

}  // namespace trainer::schedule

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
