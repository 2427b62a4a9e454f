// SPDX-License-Identifier: Apache-2.0
#include "trainer/torch/optim/optimizer.h"

#include <cmath>
#include <vector>

#include <ATen/ops/add.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/sqrt.h>
#include <ATen/ops/zeros_like.h>

namespace trainer::optim {
namespace {

using config::OptimizerName;

/// The trained elements of the tensors of an update.
struct TrainedTensors {
  at::Tensor values;
  at::Tensor gradients;
  std::vector<at::Tensor> moments;
  at::Tensor scratch;
};

TrainedTensors trained_range(const model::FlatParameters& flat, const OptimizerState& state) {
  TrainedTensors t{trained_range(flat, flat.values), trained_range(flat, flat.gradients), {}, {}};
  if (state.scratch.defined()) t.scratch = trained_range(flat, state.scratch);
  for (const model::NamedTensor& moment : state.moments) {
    t.moments.push_back(trained_range(flat, moment.tensor));
  }
  return t;
}

// Returns the elements of a group in a tensor of all trained elements.
at::Tensor group_range(const at::Tensor& trained, const model::ParameterGroup& group) {
  return group.size() == trained.size(0) ? trained : trained.narrow(0, group.begin, group.size());
}

double weight_decay_of(const config::OptimizerConfig& optimizer,
                       const model::ParameterGroup& group) {
  const bool decays = optimizer.decay_bias_and_norm || group.decay == network::Decay::kYes;
  return decays ? optimizer.weight_decay * group.factors.weight_decay : 0;
}

void add_l2_penalty(const config::OptimizerConfig& optimizer, const model::FlatParameters& flat,
                    const TrainedTensors& t) {
  for (const model::ParameterGroup& group : flat.groups) {
    const double decay = weight_decay_of(optimizer, group);
    if (decay == 0) continue;
    group_range(t.gradients, group).add_(group_range(t.values, group), decay);
  }
}

// Calls body(range) for as few ranges as possible: groups that differ only in weight decay are
// merged.
template <class Body>
void for_each_range(const model::FlatParameters& flat, const Body& body) {
  model::ParameterGroup range;
  for (const model::ParameterGroup& group : flat.groups) {
    const bool continues = range.factors.learning_rate == group.factors.learning_rate &&
                           range.factors.epsilon == group.factors.epsilon;
    if (!continues && range.size() > 0) body(range);
    const int64_t begin = continues ? range.begin : group.begin;
    range = group;
    range.begin = begin;
  }
  if (range.size() > 0) body(range);
}

// values += step * (-learning rate), with the factor of each group.
void subtract_step(const model::FlatParameters& flat, const at::Tensor& values,
                   const at::Tensor& step, double learning_rate) {
  for_each_range(flat, [&](const model::ParameterGroup& range) {
    group_range(values, range)
        .add_(group_range(step, range), -learning_rate * range.factors.learning_rate);
  });
}

// root += epsilon, with the factor of each group.
void add_epsilon(const model::FlatParameters& flat, const at::Tensor& root, double epsilon) {
  for_each_range(flat, [&](const model::ParameterGroup& range) {
    group_range(root, range).add_(epsilon * range.factors.epsilon);
  });
}

// values -= learning rate * numerator / denominator, with the factor of each group.
void subtract_ratio(const model::FlatParameters& flat, const at::Tensor& values,
                    const at::Tensor& numerator, const at::Tensor& denominator,
                    double learning_rate) {
  for_each_range(flat, [&](const model::ParameterGroup& range) {
    group_range(values, range)
        .addcdiv_(group_range(numerator, range), group_range(denominator, range),
                  -learning_rate * range.factors.learning_rate);
  });
}

void update_sgd(const config::OptimizerConfig& optimizer, double learning_rate,
                const model::FlatParameters& flat, TrainedTensors& t) {
  add_l2_penalty(optimizer, flat, t);
  if (optimizer.momentum == 0) return subtract_step(flat, t.values, t.gradients, learning_rate);
  const at::Tensor& buffer = t.moments[0];
  buffer.mul_(optimizer.momentum).add_(t.gradients);
  if (!optimizer.nesterov) return subtract_step(flat, t.values, buffer, learning_rate);
  at::add_out(t.scratch, t.gradients, buffer, optimizer.momentum);
  subtract_step(flat, t.values, t.scratch, learning_rate);
}

void update_adam(const config::OptimizerConfig& optimizer, double learning_rate,
                 const model::FlatParameters& flat, TrainedTensors& t, int64_t num_steps) {
  if (optimizer.name == OptimizerName::kAdam) {
    add_l2_penalty(optimizer, flat, t);
  } else {
    for (const model::ParameterGroup& group : flat.groups) {
      const double decay = weight_decay_of(optimizer, group);
      if (decay == 0) continue;
      group_range(t.values, group).mul_(1 - learning_rate * group.factors.learning_rate * decay);
    }
  }
  const at::Tensor& mean = t.moments[0];
  const at::Tensor& square_mean = t.moments[1];
  mean.lerp_(t.gradients, 1 - optimizer.beta1);
  square_mean.mul_(optimizer.beta2).addcmul_(t.gradients, t.gradients, 1 - optimizer.beta2);
  const auto step = static_cast<double>(num_steps);
  const double correction1 = 1 - std::pow(optimizer.beta1, step);
  const double root2 = std::sqrt(1 - std::pow(optimizer.beta2, step));
  // The step (m / c1) / (sqrt(v / c2) + epsilon) is computed with numerator and denominator
  // multiplied by sqrt(c2), which saves an operation.
  at::sqrt_out(t.scratch, square_mean);
  add_epsilon(flat, t.scratch, optimizer.epsilon * root2);
  subtract_ratio(flat, t.values, mean, t.scratch, learning_rate * root2 / correction1);
}

void update_rmsprop(const config::OptimizerConfig& optimizer, double learning_rate,
                    const model::FlatParameters& flat, TrainedTensors& t) {
  add_l2_penalty(optimizer, flat, t);
  const at::Tensor& square_mean = t.moments[0];
  square_mean.mul_(optimizer.beta2).addcmul_(t.gradients, t.gradients, 1 - optimizer.beta2);
  at::sqrt_out(t.scratch, square_mean);
  add_epsilon(flat, t.scratch, optimizer.epsilon);
  if (optimizer.momentum == 0) {
    return subtract_ratio(flat, t.values, t.gradients, t.scratch, learning_rate);
  }
  const at::Tensor& buffer = t.moments[1];
  buffer.mul_(optimizer.momentum).addcdiv_(t.gradients, t.scratch);
  subtract_step(flat, t.values, buffer, learning_rate);
}

}  // namespace

OptimizerState make_state(const config::OptimizerConfig& optimizer, double ema_decay,
                          const model::FlatParameters& flat) {
  OptimizerState state;
  const auto add = [&](const char* name) {
    state.moments.push_back({name, at::zeros_like(flat.values)});
  };
  switch (optimizer.name) {
    case OptimizerName::kAdam:
    case OptimizerName::kAdamw:
      add("exp_avg");
      add("exp_avg_sq");
      break;
    case OptimizerName::kRmsprop:
      add("square_avg");
      [[fallthrough]];
    case OptimizerName::kSgd:
      if (optimizer.momentum != 0) add("momentum_buffer");
      break;
  }
  if (ema_decay > 0) state.moments.push_back({kEma, flat.values.clone()});
  return state;
}

void reserve(const config::OptimizerConfig& optimizer, const model::FlatParameters& flat,
             OptimizerState& state) {
  const bool has_simple_step = optimizer.name == OptimizerName::kSgd && !optimizer.nesterov;
  if (!has_simple_step && !state.scratch.defined()) state.scratch = at::empty_like(flat.values);
}

void update(const config::OptimizerConfig& optimizer, double learning_rate,
            model::FlatParameters& flat, OptimizerState& state) {
  reserve(optimizer, flat, state);
  ++state.step;
  TrainedTensors t = trained_range(flat, state);
  switch (optimizer.name) {
    case OptimizerName::kSgd:
      return update_sgd(optimizer, learning_rate, flat, t);
    case OptimizerName::kAdam:
    case OptimizerName::kAdamw:
      return update_adam(optimizer, learning_rate, flat, t, state.step);
    case OptimizerName::kRmsprop:
      return update_rmsprop(optimizer, learning_rate, flat, t);
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
  if (max_norm > 0) flat.gradients.div_(norm.add(1e-6).div_(max_norm).clamp_min_(1));
  return norm;
}

}  // namespace trainer::optim
