// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include "trainer/nn/spec/spec.h"

#include "torch/model/forward.h"

namespace trainer::model {

/// Runs all layers so that autograd keeps only the inputs of about sqrt(2 * layers) segments, and
/// recomputes each segment for its gradient; see Chen and others, "Training Deep Nets with
/// Sublinear Memory Cost", arXiv:1604.06174. The gradient is bit-identical.
at::Tensor run_with_checkpoints(const Forward& forward, const network::NetworkSpec& network,
                                const at::Tensor& features);

}  // namespace trainer::model
