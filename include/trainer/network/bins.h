// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "trainer/network/layers.h"

namespace trainer::network {

/// The part of each bin that is below x is (x - left) * inverse_width, at least `low` and at most
/// `high`, all `[features, bins]`. A bin without width has the part 0.
struct Bins {
  std::vector<float> left;
  std::vector<float> inverse_width;
  std::vector<float> low;
  std::vector<float> high;
};

/// `edges` are `[features, bins + 1]`, ascending.
Bins make_bins(const PiecewiseEmbedding& embedding, std::span<const float> edges);

}  // namespace trainer::network
