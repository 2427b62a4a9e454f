// SPDX-License-Identifier: Apache-2.0
#include "trainer/optim/optimizer.h"

#include <cmath>
#include <vector>

#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/zeros_like.h>

namespace trainer::optim {
namespace {

using config::OptimizerName;

/// The trained elements of the tensors of an update.
struct TrainedTensors {
  at::Tensor values;
  at::Tensor gradients;
  std::vector<at::Tensor> moments;
};

TrainedTensors trained_range(const model::FlatParameters& flat, const OptimizerState& state) {
  TrainedTensors t{trained_range(flat, flat.values), trained_range(flat, flat.gradients), {}};
  for (const model::NamedTensor& moment : state.moments) {
    t.moments.push_back(trained_range(flat, moment.tensor));
  }
  return t;
}

// The elements that weight decay applies to, a leading range of the buffer.
at::Tensor decayed_range(const config::OptimizerConfig& optimizer,
                         const model::FlatParameters& flat, const at::Tensor& buffer) {
  return optimizer.decay_bias_and_norm ? buffer : buffer.narrow(0, 0, flat.num_decayed);
}

void add_l2_penalty(const config::OptimizerConfig& optimizer, const model::FlatParameters& flat,
                    const TrainedTensors& t) {
  if (optimizer.weight_decay == 0) return;
  decayed_range(optimizer, flat, t.gradients)
      .add_(decayed_range(optimizer, flat, t.values), optimizer.weight_decay);
}

void update_sgd(const config::OptimizerConfig& optimizer, double learning_rate,
                const model::FlatParameters& flat, const TrainedTensors& t) {
  add_l2_penalty(optimizer, flat, t);
  if (optimizer.momentum == 0) {
    t.values.add_(t.gradients, -learning_rate);
    return;
  }
  const at::Tensor& buffer = t.moments[0];
  buffer.mul_(optimizer.momentum).add_(t.gradients);
  if (optimizer.nesterov) {
    t.values.add_(t.gradients.add(buffer, optimizer.momentum), -learning_rate);
  } else {
    t.values.add_(buffer, -learning_rate);
  }
}

void update_adam(const config::OptimizerConfig& optimizer, double learning_rate,
                 const model::FlatParameters& flat, const TrainedTensors& t, int64_t num_steps) {
  if (optimizer.name == OptimizerName::kAdam) {
    add_l2_penalty(optimizer, flat, t);
  } else if (optimizer.weight_decay != 0) {
    decayed_range(optimizer, flat, t.values).mul_(1 - learning_rate * optimizer.weight_decay);
  }
  const at::Tensor& mean = t.moments[0];
  const at::Tensor& square_mean = t.moments[1];
  mean.mul_(optimizer.beta1).add_(t.gradients, 1 - optimizer.beta1);
  square_mean.mul_(optimizer.beta2).addcmul_(t.gradients, t.gradients, 1 - optimizer.beta2);
  const auto step = static_cast<double>(num_steps);
  const double correction1 = 1 - std::pow(optimizer.beta1, step);
  const double correction2 = 1 - std::pow(optimizer.beta2, step);
  const at::Tensor denominator =
      square_mean.sqrt().div_(std::sqrt(correction2)).add_(optimizer.epsilon);
  t.values.addcdiv_(mean, denominator, -learning_rate / correction1);
}

}  // namespace

OptimizerState make_state(const config::OptimizerConfig& optimizer, double ema_decay,
                          const model::FlatParameters& flat) {
  OptimizerState state;
  const auto add = [&](const char* name) {
    state.moments.push_back({name, at::zeros_like(flat.values)});
  };
  if (optimizer.name != OptimizerName::kSgd) {
    add("exp_avg");
    add("exp_avg_sq");
  } else if (optimizer.momentum != 0) {
    add("momentum_buffer");
  }
  if (ema_decay > 0) state.moments.push_back({kEma, flat.values.clone()});
  return state;
}

void update(const config::OptimizerConfig& optimizer, double learning_rate,
            model::FlatParameters& flat, OptimizerState& state) {
  ++state.step;
  const TrainedTensors t = trained_range(flat, state);
  if (optimizer.name == OptimizerName::kSgd) {
    update_sgd(optimizer, learning_rate, flat, t);
  } else {
    update_adam(optimizer, learning_rate, flat, t, state.step);
  }
}

void update_average(double ema_decay, const model::FlatParameters& flat, OptimizerState& state) {
  if (state.moments.empty() || state.moments.back().name != kEma) return;
  trained_range(flat, state.moments.back().tensor)
      .mul_(ema_decay)
      .add_(trained_range(flat, flat.values), 1 - ema_decay);
}

at::Tensor clip_gradients(model::FlatParameters& flat, double max_norm) {
  at::Tensor norm = at::linalg_vector_norm(flat.gradients, 2);
  if (max_norm > 0) {
    flat.gradients.mul_(norm.add(1e-6).reciprocal_().mul_(max_norm).clamp_max_(1.0));
  }
  return norm;
}

}  // namespace trainer::optim
