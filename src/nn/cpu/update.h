// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/nn/cpu/operands.h"

#include "nn/cpu/vector.h"

// The update rules of torch/optim/optimizer.h, with clipping and averaging in the same pass.
namespace trainer::cpu::TRAINER_ISA {

// Uses many partial sums, so that each rounds few terms.
inline double sum_of_squares(const float* values, int64_t size) {
  constexpr int64_t kSums = 64;
  float sums[kSums] = {};
  int64_t j = 0;
  for (; j + kSums <= size; j += kSums) {
    for (int64_t i = 0; i < kSums; ++i) sums[i] += values[j + i] * values[j + i];
  }
  for (int64_t i = 0; j + i < size; ++i) sums[i] += values[j + i] * values[j + i];
  double sum = 0;
  for (const float partial : sums) sum += static_cast<double>(partial);
  return sum;
}

struct Averaging {
  float* average;
  float decay;

  void add(int64_t i, float value) const {
    if (average != nullptr) average[i] = average[i] * decay + value * (1.0f - decay);
  }
};

struct NoAveraging {
  void add(int64_t, float) const {}
};

template <bool IsNesterov, class Average>
void update_sgd_with_momentum(const UpdateOptions& o, const UpdateBuffers& b,
                              const Average& average) {
  const auto factor = static_cast<float>(o.gradient_factor);
  const auto decay = static_cast<float>(o.optimizer.weight_decay);
  const auto rate = static_cast<float>(o.learning_rate);
  const auto momentum = static_cast<float>(o.optimizer.momentum);
  TRAINER_INDEPENDENT
  for (int64_t i = 0; i < b.size; ++i) {
    const float gradient = b.gradients[i] * factor + b.values[i] * decay;
    const float velocity = b.first_moment[i] * momentum + gradient;
    const float step = IsNesterov ? gradient + velocity * momentum : velocity;
    const float value = b.values[i] - step * rate;
    b.first_moment[i] = velocity;
    b.values[i] = value;
    average.add(i, value);
  }
}

template <class Average>
void update_sgd(const UpdateOptions& o, const UpdateBuffers& b, const Average& average) {
  if (b.first_moment != nullptr) {
    return o.optimizer.nesterov ? update_sgd_with_momentum<true>(o, b, average)
                                : update_sgd_with_momentum<false>(o, b, average);
  }
  const auto factor = static_cast<float>(o.gradient_factor);
  const auto decay = static_cast<float>(o.optimizer.weight_decay);
  const auto rate = static_cast<float>(o.learning_rate);
  TRAINER_INDEPENDENT
  for (int64_t i = 0; i < b.size; ++i) {
    const float value = b.values[i] - (b.gradients[i] * factor + b.values[i] * decay) * rate;
    b.values[i] = value;
    average.add(i, value);
  }
}

template <class Average>
void update_adam(const UpdateOptions& o, const UpdateBuffers& b, const Average& average) {
  const bool is_decoupled = o.optimizer.name == config::OptimizerName::kAdamw;
  const auto factor = static_cast<float>(o.gradient_factor);
  const auto penalty = static_cast<float>(is_decoupled ? 0 : o.optimizer.weight_decay);
  const auto shrinkage =
      static_cast<float>(is_decoupled ? 1 - o.learning_rate * o.optimizer.weight_decay : 1);
  const auto beta1 = static_cast<float>(o.optimizer.beta1);
  const auto beta2 = static_cast<float>(o.optimizer.beta2);
  const auto rest1 = static_cast<float>(1 - o.optimizer.beta1);
  const auto rest2 = static_cast<float>(1 - o.optimizer.beta2);
  const auto epsilon = static_cast<float>(o.optimizer.epsilon);
  const auto rate = static_cast<float>(o.learning_rate / o.mean_correction);
  const auto correction = static_cast<float>(1 / __builtin_sqrt(o.square_correction));
  TRAINER_INDEPENDENT
  for (int64_t i = 0; i < b.size; ++i) {
    const float gradient = b.gradients[i] * factor + b.values[i] * penalty;
    const float mean = b.first_moment[i] * beta1 + gradient * rest1;
    const float square = b.second_moment[i] * beta2 + gradient * gradient * rest2;
    const float value =
        b.values[i] * shrinkage - rate * mean / (__builtin_sqrtf(square) * correction + epsilon);
    b.first_moment[i] = mean;
    b.second_moment[i] = square;
    b.values[i] = value;
    average.add(i, value);
  }
}

template <class Average>
void update_rmsprop(const UpdateOptions& o, const UpdateBuffers& b, const Average& average) {
  const auto factor = static_cast<float>(o.gradient_factor);
  const auto penalty = static_cast<float>(o.optimizer.weight_decay);
  const auto beta2 = static_cast<float>(o.optimizer.beta2);
  const auto rest2 = static_cast<float>(1 - o.optimizer.beta2);
  const auto epsilon = static_cast<float>(o.optimizer.epsilon);
  const auto rate = static_cast<float>(o.learning_rate);
  const auto update_with = [&](const auto& add_momentum) {
    TRAINER_INDEPENDENT
    for (int64_t i = 0; i < b.size; ++i) {
      const float gradient = b.gradients[i] * factor + b.values[i] * penalty;
      const float square = b.second_moment[i] * beta2 + gradient * gradient * rest2;
      const float step = add_momentum(i, gradient / (__builtin_sqrtf(square) + epsilon));
      const float value = b.values[i] - step * rate;
      b.second_moment[i] = square;
      b.values[i] = value;
      average.add(i, value);
    }
  };
  if (b.first_moment == nullptr) {
    update_with([](int64_t, float step) { return step; });
  } else {
    update_with([&, momentum = static_cast<float>(o.optimizer.momentum)](int64_t i, float step) {
      return b.first_moment[i] = b.first_moment[i] * momentum + step;
    });
  }
}

inline void update(const UpdateOptions& o, const UpdateBuffers& b) {
  const auto apply = [&](const auto& average) {
    switch (o.optimizer.name) {
      case config::OptimizerName::kSgd:
        return update_sgd(o, b, average);
      case config::OptimizerName::kAdam:
      case config::OptimizerName::kAdamw:
        return update_adam(o, b, average);
      case config::OptimizerName::kRmsprop:
        return update_rmsprop(o, b, average);
    }
  };
  if (b.average != nullptr) {
    apply(Averaging{b.average, static_cast<float>(o.ema_decay)});
  } else {
    apply(NoAveraging{});
  }
}

}  // namespace trainer::cpu::TRAINER_ISA
