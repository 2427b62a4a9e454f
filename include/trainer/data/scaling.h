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
};

/// kNone: shift 0, scale 1. kStandard: mean and 1 / standard deviation (of the population) of each
/// column. kMinMax: minimum and 1 / (maximum - minimum). kRobust: median and 1 / (distance between
/// the quartiles), or 1 / standard deviation where the quartiles are equal. A column that is
/// constant in `features` gets scale 1, so that it becomes 0.
Scaling fit_scaling(const Matrix& features, config::ScalingMethod method);

/// Makes `values` `[n, columns]`, which were scaled, what they were before.
void unscale(const Scaling& scaling, std::span<float> values);

}  // namespace trainer::data
