// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include "trainer/config/config.h"

namespace trainer::model {

struct LossOptions {
  config::Loss kind = config::Loss::kCrossEntropy;  // never kAuto
  double label_smoothing = 0.0;                     // cross-entropy only
};

/// The sum of the losses of all samples, a 0-d tensor that can be differentiated.
/// Cross-entropy: outputs are logits `[batch, classes]`, targets class indices `[batch]` int64.
/// MSE: outputs and targets `[batch, outputs]` float32; a sample's loss is the mean over outputs.
at::Tensor loss_sum(const at::Tensor& outputs, const at::Tensor& targets,
                    const LossOptions& options);

/// The gradient of loss_sum() with respect to the outputs.
at::Tensor loss_gradient(const at::Tensor& outputs, const at::Tensor& targets,
                         const LossOptions& options);

/// How many samples have their largest logit at the target's class, a 0-d int64 tensor. 0 for MSE.
at::Tensor num_correct(const at::Tensor& outputs, const at::Tensor& targets,
                       const LossOptions& options);

}  // namespace trainer::model
