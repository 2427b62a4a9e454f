// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include <ATen/core/Tensor.h>

#include "trainer/config/types.h"

namespace trainer::model {

struct LossOptions {
  config::Loss kind = config::Loss::kCrossEntropy;  // never kAuto
  double label_smoothing = 0.0;                     // cross-entropy only
  double huber_delta = 1.0;                         // huber only
};

/// What the outputs should have been: class indices `[batch]` int64, or values `[batch, outputs]`
/// float32; and how much each sample counts, `[batch]` float32, or nothing: all alike.
struct Targets {
  // NOLINTNEXTLINE(google-explicit-constructor): weights are rare
  Targets(at::Tensor all_values, at::Tensor all_weights = {})
      : values(std::move(all_values)), weights(std::move(all_weights)) {}

  at::Tensor values;
  at::Tensor weights;
};

/// The sum of the losses of all samples, each times its weight: a 0-d tensor that can be
/// differentiated. With outputs x and targets t, a sample's loss is as PyTorch has it:
///   cross_entropy         -log softmax(x)_t, with label smoothing; x are logits `[batch, classes]`
///   binary_cross_entropy  log(1 + exp(-x)) for class 1, log(1 + exp(x)) for 0; x `[batch, 1]`
///   mse, l1, huber        the mean over outputs of d^2, |d|, and d^2 / 2 where |d| < delta, else
///                         delta (|d| - delta / 2), where d = x - t; both `[batch, outputs]`
at::Tensor loss_sum(const at::Tensor& outputs, const Targets& targets, const LossOptions& options);

/// The gradient of loss_sum() with respect to the outputs.
at::Tensor loss_gradient(const at::Tensor& outputs, const Targets& targets,
                         const LossOptions& options);

/// How many samples have their largest logit at the target's class, or a logit of that sign, a 0-d
/// int64 tensor. 0 for regression.
at::Tensor num_correct(const at::Tensor& outputs, const Targets& targets,
                       const LossOptions& options);

}  // namespace trainer::model
