// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/table/dataset.h"

namespace trainer::wizard {

/// The R2 on the validation split of a linear model of the first target, the best of those that
/// conjugate gradients come by on the way to the least squares of up to 2,000 training rows: a
/// cheap sign of how much a linear model explains. 0 without rows.
double linear_r2(const data::Datasets& data);

}  // namespace trainer::wizard
