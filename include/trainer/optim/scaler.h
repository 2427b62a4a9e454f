// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "trainer/checkpoint/checkpoint.h"

namespace trainer::optim {

inline constexpr int64_t kGrowthInterval = 2000;  // good steps after which the scale is doubled
inline constexpr double kLeastScale = 1;          // below, the gradient itself is at fault

/// The scaler before the first step: a loss times 65,536.
inline constexpr checkpoint::Scaler kFirstScaler{65536, 0};

/// The scaler after a step whose gradient was finite, or was not: doubled after
/// kGrowthInterval good steps, else halved. The scale follows the gradients (Micikevicius et al.,
/// "Mixed Precision Training", 2018) with the constants of torch.cuda.amp.GradScaler; it is a power
/// of two and changes no bit of a gradient that fits.
checkpoint::Scaler after_step(const checkpoint::Scaler& scaler, bool is_finite);

}  // namespace trainer::optim
