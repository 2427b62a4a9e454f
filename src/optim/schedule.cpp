// SPDX-License-Identifier: Apache-2.0
#include "trainer/optim/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace trainer::optim {

double learning_rate(const ScheduleOptions& options, int64_t step) {
  if (step < options.warmup_steps) {
    return options.peak * static_cast<double>(step + 1) / static_cast<double>(options.warmup_steps);
  }
  const int64_t decay_steps = std::max<int64_t>(1, options.total_steps - options.warmup_steps);
  const double t = std::min(
      1.0, static_cast<double>(step - options.warmup_steps) / static_cast<double>(decay_steps));
  const double f = options.final_factor;
  switch (options.name) {
    case config::ScheduleName::kConstant:
      return options.peak;
    case config::ScheduleName::kLinear:
      return options.peak * (1 - (1 - f) * t);
    case config::ScheduleName::kCosine:
      return options.peak * (f + (1 - f) * (1 + std::cos(std::numbers::pi * t)) / 2);
  }
  return options.peak;
}

}  // namespace trainer::optim
