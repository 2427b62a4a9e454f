// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include "trainer/model/loss.h"
#include "trainer/model/network.h"

namespace trainer::model {

/// The function to differentiate: `scale` times the sum of the losses of a batch, in training mode.
/// With several members, the loss of a sample is the mean of theirs.
struct Objective {
  const at::Tensor& features;  // [batch, num_features]
  Targets targets;
  LossOptions loss;
  at::Tensor scale = {};  // 0-d float32 on the device; undefined: 1
  DropoutNoise noise;
};

/// What a forward pass over a batch gave.
struct BatchResult {
  at::Tensor outputs;      // [batch * members, num_outputs]
  at::Tensor loss_sum;     // 0-d, not scaled
  at::Tensor num_correct;  // 0-d float32, of the rows of all members; undefined for regression
};

/// Computes the gradient of `objective` by LibTorch's autograd, in `gradients` of the parameters.
BatchResult compute_gradient(Network& network, const Objective& objective,
                             Accumulate accumulate = Accumulate::kNo);

}  // namespace trainer::model
