// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "trainer/config/types.h"
#include "trainer/nn/cpu/numeric_embedding.h"
#include "trainer/nn/cpu/operands.h"
#include "trainer/nn/spec/spec.h"

// The kernels compute a linear layer together with the norm, activation and dropout that follow it,
// while the values are in the cache. So the list of layers is cut into blocks, one per linear
// layer.
namespace trainer::cpu {

/// A linear layer with its norm, activation, dropout and residual.
struct Block {
  int64_t num_inputs = 0;
  int64_t num_outputs = 0;
  int64_t num_members = 1;  // each has its own weight and bias; above 1 only in the last block
  TensorMemory weight;      // [num_outputs, num_inputs]
  TensorMemory bias;        // [num_outputs], as all tensors below
  config::Norm norm = config::Norm::kNone;
  TensorMemory norm_weight;
  TensorMemory norm_bias;
  TensorMemory running_mean;
  TensorMemory running_var;
  config::Activation activation = config::Activation::kRelu;  // unused in the last block
  /// Null unless the activation is parametric.
  TensorMemory mix;
  double dropout = 0;
  uint32_t dropout_stream = 0;
  bool has_skip = false;  // the block adds its input to its output

  /// The number of weights of all members together.
  int64_t num_weights() const { return num_members * num_outputs * num_inputs; }
  /// The weight matrix `[num_outputs, num_inputs]` of one member.
  const float* member_weight(int64_t member) const {
    return weight.value + member * num_outputs * num_inputs;
  }
  /// Whether any of its parameters gets a gradient.
  bool is_trained() const;
  /// Whether the batch norm uses its running statistics: always in inference, in training only if
  /// it is frozen.
  bool uses_running_statistics(network::Mode mode) const;
};

/// A table of embeddings; a feature holds the row indices.
struct Table {
  TensorMemory weight;  // [num_rows, size]
  int64_t num_rows = 0;
  int64_t size = 0;
};

/// A network as the kernels compute it.
struct Blocks {
  std::vector<Table> tables;  // one for each of the last features, in the order of the features
  std::optional<NumericEmbedding> numeric;
  TensorMemory input_scale;   // [members, inputs of the first block]; null: no scaling
  std::vector<Block> blocks;  // the last one has only a linear layer
  int64_t num_members = 1;
  /// How the outputs of several members are averaged.
  network::Mean mean = network::Mean::kOfNumbers;
  /// [1] only for a mean of probabilities; multiplies the combined outputs.
  TensorMemory output_scale;
};

/// Cuts the layers of a network into blocks. `tensors` has an entry for each tensor of
/// network::tensors(), in that order. Throws Error(kUsage) for a list of layers that the kernels do
/// not support.
Blocks make_blocks(const network::NetworkSpec& network, std::span<const TensorMemory> tensors);

}  // namespace trainer::cpu
