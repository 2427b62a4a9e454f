// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/nn/cpu/operands.h"

#include "nn/cpu/math.h"
#include "nn/cpu/vector.h"

namespace trainer::cpu::TRAINER_ISA {

inline float row_weight(const LossInput& in, int64_t row) {
  return in.weights == nullptr ? 1.0f : in.weights[row];
}

// The loss of a row with logits x, target t, C classes and smoothing e, after Szegedy and others,
// arXiv:1512.00567, as PyTorch computes it:
//   log sum exp(x) - (1 - e) x_t - e mean(x);  its gradient: softmax(x) - (1 - e) [j = t] - e/C
inline void cross_entropy(const LossInput& in, const int64_t* classes, const LossOutput& out) {
  const int64_t n = in.tile.num_columns;
  const auto smoothing = static_cast<float>(in.label_smoothing);
  const float smoothing_per_class = smoothing / static_cast<float>(n);
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
    const float weight = row_weight(in, i);
    out.losses[i] =
        weight * (__builtin_logf(sum) - (1.0f - smoothing) * wanted - smoothing * others);
    if (!in.wants_gradient) continue;
    const float scale = weight * in.gradient_scale;
    const float factor = scale / sum;
    const float constant = scale * smoothing_per_class;
    TRAINER_INDEPENDENT
    for (int64_t j = 0; j < n; ++j) row[j] = row[j] * factor - constant;
    row[target] -= scale * (1.0f - smoothing);
  }
}

// The loss of a row with logit x and target t, 0 or 1, in a form that never overflows:
//   max(x, 0) - t x + log(1 + exp(-|x|));  its gradient: 1 / (1 + exp(-x)) - t
inline void binary_cross_entropy(const LossInput& in, const int64_t* classes,
                                 const LossOutput& out) {
  for (int64_t i = 0; i < in.tile.num_rows; ++i) {
    float& output = in.outputs[i * in.tile.stride];
    const float x = output + in.bias[0];
    const auto target = static_cast<float>(classes[i]);
    out.correct[i] = x == x && (x > 0.0f) == (classes[i] == 1) ? 1 : 0;
    const float small = exp(x > 0.0f ? -x : x);
    const float weight = row_weight(in, i);
    out.losses[i] = weight * ((x > 0.0f ? x : 0.0f) - target * x + __builtin_log1pf(small));
    if (!in.wants_gradient) continue;
    const float probability = (x > 0.0f ? 1.0f : small) / (1.0f + small);
    output = weight * in.gradient_scale * (probability - target);
  }
}

// The mean over the outputs of loss(output - target); `slope` is the derivative of `loss`.
template <class Loss, class Slope>
void mean_loss(const LossInput& in, const float* values, const LossOutput& out, const Loss& loss,
               const Slope& slope) {
  const int64_t n = in.tile.num_columns;
  for (int64_t i = 0; i < in.tile.num_rows; ++i) {
    float* row = in.outputs + i * in.tile.stride;
    const float* targets = values + i * n;
    for (int64_t j = 0; j < n; ++j) row[j] = row[j] + in.bias[j] - targets[j];
    const float weight = row_weight(in, i);
    const float sum = sum_over(n, [&](int64_t j) { return loss(row[j]); });
    out.losses[i] = weight * (sum / static_cast<float>(n));
    out.correct[i] = 0;
    if (!in.wants_gradient) continue;
    const float scale = weight * in.gradient_scale / static_cast<float>(n);
    for (int64_t j = 0; j < n; ++j) row[j] = scale * slope(row[j]);
  }
}

inline void regression_loss(config::Loss kind, const LossInput& in, const float* values,
                            const LossOutput& out) {
  const auto delta = static_cast<float>(in.huber_delta);
  const auto huber = [&](float d) {
    const float size = __builtin_fabsf(d);
    return size < delta ? 0.5f * d * d : delta * (size - 0.5f * delta);
  };
  const auto clamped = [&](float d) { return d > delta ? delta : d < -delta ? -delta : d; };
  const auto sign = [](float d) { return d > 0.0f ? 1.0f : d < 0.0f ? -1.0f : d; };
  switch (kind) {
    case config::Loss::kL1:
      return mean_loss(
          in, values, out, [](float d) { return __builtin_fabsf(d); }, sign);
    case config::Loss::kHuber:
      return mean_loss(in, values, out, huber, clamped);
    case config::Loss::kMse:
      return mean_loss(
          in, values, out, [](float d) { return d * d; }, [](float d) { return 2.0f * d; });
    case config::Loss::kAuto:
    case config::Loss::kCrossEntropy:
    case config::Loss::kBinaryCrossEntropy:
      break;  // not of numbers
  }
}

}  // namespace trainer::cpu::TRAINER_ISA
