// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/cpu/operands.h"

#include "cpu/math.h"
#include "cpu/vector.h"

namespace trainer::cpu::TRAINER_ISA {

// The loss of a row with logits x, target t, C classes and smoothing e, after Szegedy and others,
// arXiv:1512.00567, as PyTorch has it:
//   log sum exp(x) - (1 - e) x_t - e mean(x);  its gradient: softmax(x) - (1 - e) [j = t] - e/C
inline void cross_entropy(const LossInput& in, const int64_t* classes, const LossOutput& out) {
  const int64_t n = in.tile.num_columns;
  const auto smoothing = static_cast<float>(in.label_smoothing);
  const float share = smoothing / static_cast<float>(n);
  for (int64_t i = 0; i < in.tile.num_rows; ++i) {
    float* row = in.outputs + i * in.tile.stride;
    const int64_t target = classes[i];
    int64_t largest = 0;
    bool is_nan = false;
    for (int64_t j = 0; j < n; ++j) {
      row[j] += in.bias[j];
      is_nan |= row[j] != row[j];
      if (row[j] > row[largest]) largest = j;
    }
    out.correct[i] = !is_nan && largest == target ? 1 : 0;
    const float maximum = row[largest];
    const float wanted = row[target] - maximum;
    float others = 0.0f;
    if (smoothing > 0.0f) {
      others = sum_over(n, [&](int64_t j) { return row[j] - maximum; }) / static_cast<float>(n);
    }
    TRAINER_INDEPENDENT
    for (int64_t j = 0; j < n; ++j) row[j] = exp(row[j] - maximum);
    const float sum = sum_over(n, [&](int64_t j) { return row[j]; });
    out.losses[i] = __builtin_logf(sum) - (1.0f - smoothing) * wanted - smoothing * others;
    if (!in.wants_gradient) continue;
    const float factor = in.gradient_scale / sum;
    const float constant = in.gradient_scale * share;
    TRAINER_INDEPENDENT
    for (int64_t j = 0; j < n; ++j) row[j] = row[j] * factor - constant;
    row[target] -= in.gradient_scale * (1.0f - smoothing);
  }
}

// The mean over the outputs of squared distances.
inline void mean_squared_error(const LossInput& in, const float* values, const LossOutput& out) {
  const int64_t n = in.tile.num_columns;
  const float slope = 2.0f * in.gradient_scale / static_cast<float>(n);
  for (int64_t i = 0; i < in.tile.num_rows; ++i) {
    float* row = in.outputs + i * in.tile.stride;
    const float* targets = values + i * n;
    for (int64_t j = 0; j < n; ++j) row[j] = row[j] + in.bias[j] - targets[j];
    out.losses[i] = sum_over(n, [&](int64_t j) { return row[j] * row[j]; }) / static_cast<float>(n);
    out.correct[i] = 0;
    if (!in.wants_gradient) continue;
    for (int64_t j = 0; j < n; ++j) row[j] *= slope;
  }
}

}  // namespace trainer::cpu::TRAINER_ISA
