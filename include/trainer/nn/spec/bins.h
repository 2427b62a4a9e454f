// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "trainer/nn/spec/layers.h"

namespace trainer::network {

/// The bins of a piecewise-linear embedding in the form that exports use. The part of a bin that is
/// below x is (x - left) * inverse_width, clipped to [low, high]; all are `[features, bins]`. For a
/// bin of width 0 the part is 0.
struct Bins {
  std::vector<float> left;
  std::vector<float> inverse_width;
  std::vector<float> low;
  std::vector<float> high;
};

/// Computes the bins from `edges` `[features, bins + 1]`, which ascend for each feature.
Bins make_bins(const PiecewiseEmbedding& embedding, std::span<const float> edges);

}  // namespace trainer::network
