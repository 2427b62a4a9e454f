// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include "trainer/torch/model/loss.h"
#include "trainer/torch/model/network.h"

namespace trainer::model {

/// The function to differentiate: `scale` times the sum of the losses of a batch, in training mode.
/// With several members, the loss of a sample is the mean of the losses of the members.
struct Objective {
  const at::Tensor& features;  // [batch, num_features]
  Targets targets;
  LossOptions loss;
  at::Tensor scale = {};  // 0-d float32 on the device; undefined: 1
  DropoutNoise noise;
};

/// The outputs and loss of a forward pass over a batch.
struct BatchResult {
  at::Tensor outputs;      // [batch * members, num_outputs]
  at::Tensor loss_sum;     // 0-d, without `scale`
  at::Tensor num_correct;  // 0-d float32, counted for all members; undefined for regression
};

/// Computes the gradient of `objective` by LibTorch's autograd. Writes it to
/// FlatParameters::gradients, or adds it to them.
BatchResult compute_gradient(Network& network, const Objective& objective,
                             Accumulate accumulate = Accumulate::kNo);

}  // namespace trainer::model
