// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "trainer/nn/spec/layers.h"

namespace trainer::network {

/// A network as a list of layers, from scaled features `[batch, num_features]` to outputs
/// `[batch, num_outputs]`. All code that depends on the structure of a network walks this list.
struct NetworkSpec {
  int64_t num_features = 0;
  int64_t num_outputs = 0;
  std::vector<Layer> layers;
};

/// In training, dropout is active and batch norm uses the statistics of the batch.
enum class Mode { kTraining, kInference };

/// The parameters of a layer, which the optimizer updates.
std::vector<TensorSpec> parameters(const Layer& layer);

/// The buffers of a layer: the running statistics of a batch norm, the edges of a piecewise-linear
/// embedding, the factor of a MemberMean.
std::vector<TensorSpec> buffers(const Layer& layer);

/// The parameters of all layers in their order.
std::vector<TensorSpec> parameters(const NetworkSpec& network);

/// The buffers of all layers in their order.
std::vector<TensorSpec> buffers(const NetworkSpec& network);

/// All parameters, then all buffers: the order of a state dict in a checkpoint.
std::vector<TensorSpec> tensors(const NetworkSpec& network);

/// The index of a layer's first tensors in parameters(network) and buffers(network).
struct TensorPosition {
  std::size_t parameter = 0;
  std::size_t buffer = 0;
};

/// Returns the position of the tensors of each layer.
std::vector<TensorPosition> tensor_positions(const NetworkSpec& network);

/// The number of members; 1 for all networks without a MemberMean.
int64_t num_members(const NetworkSpec& network);

/// The names of the tensors to multiply to scale the outputs: weight and bias of the last linear
/// layer, or the factor of a mean of probabilities.
std::vector<std::string> output_tensors(const NetworkSpec& network);

/// The number of elements of all parameters.
int64_t num_parameters(const NetworkSpec& network);

/// The widths of the network: inputs of the first linear layer, hidden layers, outputs.
std::vector<int64_t> widths(const NetworkSpec& network);

/// A short description of the network, such as "64-128-128-10 relu, batch norm, dropout 0.2,
/// residual, embeddings 5x3 and 9x4".
std::string summary(const NetworkSpec& network);

/// A line for each embedding of numbers, the input scale, and each linear layer with the layers
/// that follow it, such as "layers.0: 64 -> 128, batch norm, relu".
std::vector<std::string> layer_lines(const NetworkSpec& network);

}  // namespace trainer::network
