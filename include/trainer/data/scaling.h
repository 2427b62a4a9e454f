// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "trainer/config/config.h"
#include "trainer/data/table.h"

namespace trainer::data {

/// A feature x becomes (x - shift) * scale. Fitted on the training part only and stored in every
/// checkpoint.
struct Scaling {
  std::vector<float> shift;  // [num_features]
  std::vector<float> scale;  // [num_features]

  bool operator==(const Scaling&) const = default;
};

/// kNone and kQuantile: shift 0, scale 1. kStandard: mean and 1 / standard deviation (of the
/// population) of each column. kMinMax: minimum and 1 / (maximum - minimum). kRobust: median and 1
/// / (distance between the quartiles), or 1 / standard deviation where the quartiles are equal. A
/// column that is constant in `features` gets scale 1, so that it becomes 0.
Scaling fit_scaling(const Matrix& features, config::ScalingMethod method);

/// Makes `values` `[n, columns]`, which were scaled, what they were before.
void unscale(const Scaling& scaling, std::span<float> values);

/// At most 100 quantiles of `values`, ascending and evenly spaced from the smallest to the largest,
/// between two values in proportion; of fewer values these themselves. As scikit-learn's
/// QuantileTransformer has them.
std::vector<float> quantiles_of(std::vector<float> values);

/// The place of `value` among at least one quantile: -1 for the first and what is below it, 1 for
/// the last and what is above, and in proportion between two. Equal quantiles share the middle of
/// their places, also at the ends, where QuantileTransformer gives the end itself: so the mean over
/// the values they are of stays nearly 0.
float place_among(std::span<const float> quantiles, float value);

}  // namespace trainer::data
