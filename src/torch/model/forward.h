// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include <ATen/core/Tensor.h>

#include "trainer/torch/model/network.h"

namespace trainer::model {

/// Whether batch norm updates its running statistics. Recomputed layers must not.
enum class RunningStatistics { kUpdate, kKeep };

/// The forward pass of a network in LibTorch's operations, which autograd differentiates.
class Forward {
 public:
  Forward(const Network& network, Mode mode, const DropoutNoise& noise);

  /// Runs all layers, with activation checkpointing if the options say so.
  at::Tensor run(const at::Tensor& features) const;

  /// A function that is called before layer `index` with its input.
  using Observer = std::function<void(std::size_t index, const at::Tensor& input)>;

  /// Runs layers [begin, end), which must not cut a residual in two.
  at::Tensor run_layers(std::size_t begin, std::size_t end, at::Tensor values,
                        RunningStatistics running, const Observer& before = {}) const;

  /// The first parameter of layers [begin, end) that requires a gradient, or an undefined tensor.
  at::Tensor trained_parameter(std::size_t begin, std::size_t end) const;

 private:
  struct Layers;

  const Network& network_;
  Mode mode_;
  DropoutNoise noise_;
  std::vector<network::TensorPosition> positions_;  // [layers] positions of their tensors
};

}  // namespace trainer::model
