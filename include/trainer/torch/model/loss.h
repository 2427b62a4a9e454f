// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include <ATen/core/Tensor.h>

#include "trainer/config/types.h"

namespace trainer::model {

/// The kind of loss, and its settings.
struct LossOptions {
  config::Loss kind = config::Loss::kCrossEntropy;  // never kAuto
  double label_smoothing = 0.0;                     // cross-entropy only
  double huber_delta = 1.0;                         // huber only
};

/// The targets of a batch: class indices `[batch]` int64, or values `[batch, outputs]` float32; and
/// optional sample weights `[batch]` float32.
struct Targets {
  // NOLINTNEXTLINE(google-explicit-constructor): weights are rare
  Targets(at::Tensor all_values, at::Tensor all_weights = {})
      : values(std::move(all_values)), weights(std::move(all_weights)) {}

  at::Tensor values;
  at::Tensor weights;
};

/// The weighted sum of the losses of all samples, a 0-d tensor that can be differentiated. With
/// outputs x and targets t, the loss of a sample is, as in PyTorch:
///   cross_entropy         -log softmax(x)_t, with label smoothing; x are logits `[batch, classes]`
///   binary_cross_entropy  log(1 + exp(-x)) for class 1, log(1 + exp(x)) for 0; x `[batch, 1]`
///   mse, l1, huber        the mean over outputs of d^2, |d|, and d^2 / 2 where |d| < delta, else
///                         delta (|d| - delta / 2), where d = x - t; both `[batch, outputs]`
at::Tensor loss_sum(const at::Tensor& outputs, const Targets& targets, const LossOptions& options);

/// Returns sum / divisor, where `sum` is a 0-d tensor. The divisor becomes a tensor of the same
/// type and device: with a plain number, LibTorch 1.13 would compute the gradient in float64, which
/// MPS does not support.
at::Tensor divided(const at::Tensor& sum, double divisor);

/// The number of samples whose predicted class is the target, 0-d float32, exact up to 2^24
/// samples; undefined for regression.
at::Tensor num_correct(const at::Tensor& outputs, const Targets& targets,
                       const LossOptions& options);

}  // namespace trainer::model
