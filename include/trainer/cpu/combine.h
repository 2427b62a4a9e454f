// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "trainer/network/layers.h"

namespace trainer::cpu {

/// The outputs `[num_columns]` of each member for some rows: those of member m for row r begin at
/// `values + m * member_stride + r * row_stride`.
struct MemberOutputs {
  const float* values = nullptr;
  int64_t num_members = 0;
  int64_t member_stride = 0;
  int64_t num_rows = 0;
  int64_t row_stride = 0;
  int64_t num_columns = 0;
};

/// Writes to `out` `[num_rows, num_columns]` with `stride` what one network would compute whose
/// predictions are the means of those of the members: the logarithms of the mean probabilities,
/// their logit where there is a single one, or means of numbers.
void combine_members(network::Mean mean, const MemberOutputs& members, float* out, int64_t stride);

/// The gradient of a sum of those results, each times its number in `factors` `[num_rows,
/// num_columns]`, with respect to the outputs of the members. Writes it to `out`, which is laid out
/// as `members.values` and may be the same memory.
void combine_gradient(network::Mean mean, const MemberOutputs& members, const float* factors,
                      float* out);

}  // namespace trainer::cpu
