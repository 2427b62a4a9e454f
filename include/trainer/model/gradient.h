// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include "trainer/model/loss.h"
#include "trainer/model/mlp.h"

namespace trainer::model {

/// What a gradient is taken of: `scale` times the sum of the losses of a batch, in training mode.
struct Objective {
  const at::Tensor& features;  // [batch, num_features]
  Targets targets;
  LossOptions loss;
  double scale = 1;
  DropoutNoise noise;
};

/// Add the gradient to that of the parameters and return the outputs `[batch, num_outputs]`: once
/// by LibTorch's autograd, and once written out in tensor operations, without a graph of the pass.
at::Tensor add_gradient_by_autograd(Mlp& model, const Objective& objective);
at::Tensor add_gradient_written_out(Mlp& model, const Objective& objective);

}  // namespace trainer::model
