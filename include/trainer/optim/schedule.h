// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "trainer/config/config.h"

namespace trainer::optim {

struct ScheduleOptions {
  config::ScheduleName name = config::ScheduleName::kConstant;
  double peak = 1e-3;  // highest learning rate
  int64_t warmup_steps = 0;
  int64_t total_steps = 1;
  double final_factor = 0.0;  // rate after the last step, as a part of `peak`; linear and cosine
};

/// The learning rate of optimizer step `step` (counted from 0), a closed form with no state:
///   step < warmup_steps: peak * (step + 1) / warmup_steps
///   else, with t = (step - warmup_steps) / (total_steps - warmup_steps) and f = final_factor:
///   constant: peak;  linear: peak * (1 - (1 - f) t);  cosine: peak * (f + (1 - f)(1 + cos pi t)/2)
double learning_rate(const ScheduleOptions& options, int64_t step);

}  // namespace trainer::optim
