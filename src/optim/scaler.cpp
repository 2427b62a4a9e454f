// SPDX-License-Identifier: Apache-2.0
#include "trainer/optim/scaler.h"

#include <algorithm>

namespace trainer::optim {

checkpoint::Scaler after_step(const checkpoint::Scaler& scaler, bool is_finite) {
  constexpr double kMostScale = 1 << 24;  // further doublings would win nothing
  if (!is_finite) return {std::max(kLeastScale, scaler.scale / 2), 0};
  if (scaler.good_steps + 1 < kGrowthInterval) return {scaler.scale, scaler.good_steps + 1};
  return {std::min(kMostScale, scaler.scale * 2), 0};
}

}  // namespace trainer::optim
