// SPDX-License-Identifier: Apache-2.0
#include "trainer/nn/cpu/losses.h"

namespace trainer::cpu {

void compute_losses(const Kernels& kernels, config::Loss loss, const LossInput& input,
                    const LossTargets& targets, const LossOutput& output) {
  if (targets.values != nullptr) {
    kernels.regression_loss(loss, input, targets.values, output);
  } else if (loss == config::Loss::kBinaryCrossEntropy) {
    kernels.binary_cross_entropy(input, targets.classes, output);
  } else {
    kernels.cross_entropy(input, targets.classes, output);
  }
}

void copy_outputs(const LossInput& input, float* out) {
  for (int64_t row = 0; row < input.tile.num_rows; ++row) {
    const float* outputs = input.outputs + row * input.tile.stride;
    for (int64_t i = 0; i < input.tile.num_columns; ++i) *out++ = outputs[i] + input.bias[i];
  }
}

}  // namespace trainer::cpu
