// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "trainer/config/types.h"
#include "trainer/model/parameters.h"

namespace trainer::optim {

/// The update rules are PyTorch's torch.optim.SGD, Adam and AdamW, term by term.
struct OptimizerOptions {
  config::OptimizerName name = config::OptimizerName::kAdamw;
  double weight_decay = 0.01;
  bool decay_bias_and_norm = false;
  double momentum = 0.9;  // sgd
  bool nesterov = false;  // sgd
  double beta1 = 0.9;     // adam, adamw
  double beta2 = 0.999;   // adam, adamw
  double epsilon = 1e-8;  // adam, adamw
  double ema_decay = 0;   // of the average of the weights; 0: none
};

/// What the optimizer remembers, each moment laid out as FlatParameters::values is.
struct OptimizerState {
  int64_t step = 0;
  std::vector<model::NamedTensor> moments;  // "momentum_buffer" or "exp_avg", "exp_avg_sq"; [n]
                                            // and kEma, last
};

/// The moving average of the weights: decay * average + (1 - decay) * weights after each step,
/// beginning with the initial weights.
inline constexpr const char* kEma = "ema";

/// The state before the first step: zeroes, and the weights of `flat` as their own average.
OptimizerState make_state(const OptimizerOptions& options, const model::FlatParameters& flat);

/// One update of `flat.values` from `flat.gradients`.
void update(const OptimizerOptions& options, double learning_rate, model::FlatParameters& flat,
            OptimizerState& state);

/// Scales the gradients down to `max_norm` where their Euclidean norm over all parameters is
/// larger, as torch.nn.utils.clip_grad_norm_ does; 0 never scales. Returns the norm before, a 0-d
/// tensor, without waiting for the device.
at::Tensor clip_gradients(model::FlatParameters& flat, double max_norm);

}  // namespace trainer::optim
