// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace trainer::schedule {

/// The loss scale, a factor that keeps small gradients above the smallest fp16 number.
struct LossScaleState {
  double scale = 0;
  int64_t good_steps = 0;  // finite steps since the scale changed

  bool operator==(const LossScaleState&) const = default;
};

inline constexpr int64_t kGrowthInterval = 2000;  // finite steps until the scale doubles
/// If a gradient overflows at this scale, the scale is not the cause.
inline constexpr double kMinLossScale = 1;

/// The state before the first step: the scale 2^16.
inline constexpr LossScaleState kInitialLossScale{.scale = 65536, .good_steps = 0};

enum class GradientStatus { kFinite, kNotFinite };

/// The state after a step: doubled after kGrowthInterval steps with finite gradients, halved after
/// a gradient that is not finite. The scale follows the gradients (Micikevicius et al., "Mixed
/// Precision Training", 2018) with the constants of torch.cuda.amp.GradScaler; it is a power of two
/// and does not change gradients within the range of fp16.
LossScaleState after_step(const LossScaleState& state, GradientStatus gradient);

}  // namespace trainer::schedule
