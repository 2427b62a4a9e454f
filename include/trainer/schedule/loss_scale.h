// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace trainer::schedule {

/// The factor of the loss that keeps small gradients above the smallest fp16 number.
struct LossScaleState {
  double scale = 0;
  int64_t good_steps = 0;  // since the scale changed

  bool operator==(const LossScaleState&) const = default;
};

inline constexpr int64_t kGrowthInterval = 2000;  // good steps after which the scale is doubled
inline constexpr double kMinLossScale = 1;        // below, the gradient itself is at fault

/// The state before the first step.
inline constexpr LossScaleState kInitialLossScale{.scale = 65536, .good_steps = 0};

/// The state after a step whose gradient was finite, or was not: doubled after kGrowthInterval good
/// steps, else halved. The scale follows the gradients (Micikevicius et al., "Mixed Precision
/// Training", 2018) with the constants of torch.cuda.amp.GradScaler; it is a power of two and
/// changes no bit of a gradient that fits.
LossScaleState after_step(const LossScaleState& state, bool is_finite);

}  // namespace trainer::schedule
