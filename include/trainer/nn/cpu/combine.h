// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "trainer/nn/spec/layers.h"

namespace trainer::cpu {

/// The outputs of all members for some rows. Member m has its `num_columns` outputs for row r at
/// `values + m * member_stride + r * row_stride`.
struct MemberOutputs {
  const float* values = nullptr;
  int64_t num_members = 0;
  int64_t member_stride = 0;
  int64_t num_rows = 0;
  int64_t row_stride = 0;
  int64_t num_columns = 0;
  std::span<const double> weights = {};  // [num_members] of sum 1; empty: all are equal
};

/// Averages the predictions of the members by their weights, and writes to `out` `[num_rows,
/// num_columns]` (rows `stride` floats apart) the outputs of one network that would predict these
/// averages: logarithms of mean probabilities, the logit of the mean probability if there is a
/// single column, or means of numbers.
void combine_members(network::Mean mean, const MemberOutputs& members, float* out, int64_t stride);

/// The backward pass of combine_members(): given the gradient with respect to its results in
/// `factors` `[num_rows, num_columns]`, writes the gradient with respect to the outputs of the
/// members to `out`, which has the layout of `members.values` and may be the same memory.
void combine_gradient(network::Mean mean, const MemberOutputs& members, const float* factors,
                      float* out);

}  // namespace trainer::cpu
