// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "trainer/apply/model.h"

namespace trainer::apply {

/// What one network would compute whose predictions are the means of those of the members: the
/// logarithms of the mean probabilities, their logit where there is a single one, or means of
/// numbers. `members` are the outputs `[n, num_outputs]` of each, as `outputs` is.
void combine_outputs(const Model& model, std::span<const std::vector<float>> members,
                     std::span<float> outputs);

}  // namespace trainer::apply
