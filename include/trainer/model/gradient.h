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
  double scale = 1;
  DropoutNoise noise;
};

/// What a forward pass over a batch gave.
struct BatchResult {
  at::Tensor outputs;      // [batch * members, num_outputs]
  at::Tensor loss_sum;     // 0-d, not scaled
  at::Tensor num_correct;  // 0-d int64, of the rows of all members
};

/// Adds the gradient of `objective` to that of the parameters, by LibTorch's autograd.
BatchResult add_gradient(const Network& network, const Objective& objective);

}  // namespace trainer::model
