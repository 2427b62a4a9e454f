// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "trainer/config/optimizer_config.h"
#include "trainer/torch/model/parameters.h"

namespace trainer::optim {

/// The state of the optimizer. Each moment has the layout of FlatParameters::values.
struct OptimizerState {
  int64_t step = 0;
  /// [n] each: "momentum_buffer" for sgd; "exp_avg" and "exp_avg_sq" for adam and adamw;
  /// "square_avg" and "momentum_buffer" for rmsprop; then kEma, if there is a moving average.
  std::vector<model::NamedTensor> moments;
  at::Tensor scratch = {};  // [n] scratch memory of update(), see reserve()
};

/// The name of the moving average of the weights: decay * average + (1 - decay) * weights after
/// each step, starting from the initial weights.
inline constexpr const char* kEma = "ema";

/// Returns the state before the first step: moments of zeros and, if `ema_decay` is above 0, the
/// weights of `flat` as the average.
OptimizerState make_state(const config::OptimizerConfig& optimizer, double ema_decay,
                          const model::FlatParameters& flat);

/// Allocates the scratch memory of update() in advance, so that an update does not run out of
/// memory halfway.
void reserve(const config::OptimizerConfig& optimizer, const model::FlatParameters& flat,
             OptimizerState& state);

/// One update of `flat.values` from `flat.gradients`, by the rules of torch.optim.SGD, Adam, AdamW
/// and RMSprop in PyTorch, with the factors of each group of parameters.
void update(const config::OptimizerConfig& optimizer, double learning_rate,
            model::FlatParameters& flat, OptimizerState& state);

/// Updates the moving average of the weights, if there is one, with those of `flat`.
void update_average(double ema_decay, const model::FlatParameters& flat, OptimizerState& state);

/// Scales the gradients down to `max_norm` if their Euclidean norm over all parameters is larger,
/// as torch.nn.utils.clip_grad_norm_ does. With `max_norm` 0 they do not change. Returns the
/// previous norm, a 0-d tensor, without waiting for the device.
at::Tensor clip_gradients(model::FlatParameters& flat, double max_norm);

}  // namespace trainer::optim
