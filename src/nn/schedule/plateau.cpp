// SPDX-License-Identifier: Apache-2.0
#include "trainer/nn/schedule/plateau.h"

#include <cmath>

#include "trainer/config/training_config.h"

namespace trainer::schedule {
namespace {

bool is_better(double metric, const std::optional<double>& best, Better better, double threshold) {
  if (!std::isfinite(metric)) return false;
  if (!best) return true;
  const double margin = threshold * std::abs(*best);
  return better == Better::kHigher ? metric > *best + margin : metric < *best - margin;
}

bool can_be_reduced(const ScheduleOptions& options, int64_t num_reductions) {
  const int64_t step = options.warmup_steps;
  return learning_rate(options, step, num_reductions + 1) <
         learning_rate(options, step, num_reductions);
}

}  // namespace

PlateauState after_epoch(const PlateauState& state, double metric, Better better,
                         const config::ScheduleConfig& schedule, const ScheduleOptions& options) {
  PlateauState next = state;
  if (is_better(metric, state.best, better, schedule.threshold)) {
    next.best = metric;
    next.bad_epochs = 0;
  } else {
    ++next.bad_epochs;
  }
  if (next.cooldown_left > 0) {
    --next.cooldown_left;
    next.bad_epochs = 0;
  }
  if (next.bad_epochs > schedule.patience) {
    next.bad_epochs = 0;
    next.cooldown_left = schedule.cooldown;
    if (can_be_reduced(options, state.num_reductions)) ++next.num_reductions;
  }
  return next;
}

}  // namespace trainer::schedule
