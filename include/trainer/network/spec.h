// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "trainer/network/layers.h"

namespace trainer::network {

/// A network: `[batch, num_features]` goes through the layers in their order and becomes
/// `[batch, num_outputs]`. Features are scaled before. Everything that has to know what a network
/// is made of walks this list.
struct NetworkSpec {
  int64_t num_features = 0;
  int64_t num_outputs = 0;
  std::vector<Layer> layers;
};

/// Whether dropout takes part and batch norm uses the batch's statistics.
enum class Mode { kTraining, kInference };

/// Whether weight decay may apply: to the weights of linear layers, not to biases and norms, nor to
/// embeddings: the decay of each step would wear away the row of a category that is rarely seen.
enum class Decay { kYes, kNo };

/// A tensor of a network. The name is that of a PyTorch state dict: "layers.0.weight".
struct TensorSpec {
  std::string name;
  std::vector<int64_t> shape;
  Initializer init = {};
  Decay decay = Decay::kNo;

  int64_t num_elements() const;
};

/// What training changes, and what it measures (the running statistics of batch norm), of a layer
/// and of all layers in their order.
std::vector<TensorSpec> parameters(const Layer& layer);
std::vector<TensorSpec> buffers(const Layer& layer);
std::vector<TensorSpec> parameters(const NetworkSpec& network);
std::vector<TensorSpec> buffers(const NetworkSpec& network);

/// All parameters, then all buffers: the order of a state dict in a checkpoint.
std::vector<TensorSpec> tensors(const NetworkSpec& network);

/// Where a layer's tensors begin among parameters(network) and buffers(network).
struct TensorPosition {
  std::size_t parameter = 0;
  std::size_t buffer = 0;
};

/// `[layers]` of the network.
std::vector<TensorPosition> tensor_positions(const NetworkSpec& network);

/// Of all parameters together.
int64_t num_parameters(const NetworkSpec& network);

/// The widths of the values between the linear layers: features behind the embeddings, hidden
/// layers, outputs.
std::vector<int64_t> widths(const NetworkSpec& network);

/// "64-128-128-10 relu, batch norm, dropout 0.2, residual, embeddings 5x3 and 9x4".
std::string summary(const NetworkSpec& network);

/// A line for each linear layer with what follows it: "layers.0: 64 -> 128, batch norm, relu".
std::vector<std::string> layer_lines(const NetworkSpec& network);

}  // namespace trainer::network
