// SPDX-License-Identifier: Apache-2.0
#include "trainer/nn/schedule/loss_scale.h"

#include <algorithm>

namespace trainer::schedule {

LossScaleState after_step(const LossScaleState& state, GradientStatus gradient) {
  constexpr double kMaxLossScale = 1 << 24;  // further doubling would not help
  if (gradient == GradientStatus::kNotFinite)
    return {.scale = std::max(kMinLossScale, state.scale / 2), .good_steps = 0};
  if (state.good_steps + 1 < kGrowthInterval) {
    return {.scale = state.scale, .good_steps = state.good_steps + 1};
  }
  return {.scale = std::min(kMaxLossScale, state.scale * 2), .good_steps = 0};
}

}  // namespace trainer::schedule
