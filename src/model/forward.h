// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include <ATen/core/Tensor.h>

#include "trainer/model/network.h"

namespace trainer::model {

/// Whether a batch norm moves its running statistics. Layers that are computed again leave them.
enum class RunningStatistics { kUpdate, kKeep };

/// The forward pass of a network in LibTorch's operations, layer by layer. Autograd derives the
/// gradient of each from these.
class Forward {
 public:
  Forward(const Network& network, Mode mode, const DropoutNoise& noise);

  /// All layers; with activation checkpointing most of them so that autograd keeps nothing.
  at::Tensor run(const at::Tensor& features) const;

  /// Layers [begin, end), which hold no part of a residual.
  at::Tensor run_layers(std::size_t begin, std::size_t end, at::Tensor values,
                        RunningStatistics running) const;

  /// Whether a gradient is wanted of some parameter of layers [begin, end): the first such one, or
  /// an undefined tensor.
  at::Tensor trained_parameter(std::size_t begin, std::size_t end) const;

 private:
  struct Layers;

  const Network& network_;
  Mode mode_;
  DropoutNoise noise_;
  std::vector<network::TensorPosition> positions_;  // of each layer's tensors
};

}  // namespace trainer::model
