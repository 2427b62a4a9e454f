// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "trainer/config/types.h"
#include "trainer/cpu/numeric_embedding.h"
#include "trainer/cpu/operands.h"
#include "trainer/network/spec.h"

// The kernels compute a linear layer together with the norm, activation and dropout that follow it,
// while the values are in the cache. So the list of layers is cut into blocks, one per linear
// layer.
namespace trainer::cpu {

/// A linear layer with its norm, activation, dropout and residual.
struct Block {
  int64_t num_inputs = 0;
  int64_t num_outputs = 0;
  int64_t num_members = 1;  // with a weight and a bias each; of the last block only
  TensorMemory weight;      // [num_outputs, num_inputs]
  TensorMemory bias;        // [num_outputs], as all below
  config::Norm norm = config::Norm::kNone;
  TensorMemory norm_weight;
  TensorMemory norm_bias;
  TensorMemory running_mean;
  TensorMemory running_var;
  config::Activation activation = config::Activation::kRelu;  // not of the last block
  TensorMemory mix;                                           // of a parametric activation
  double dropout = 0;
  uint32_t dropout_stream = 0;
  bool has_skip = false;  // adds its input to its output

  /// Those of all members.
  int64_t num_weights() const { return num_members * num_outputs * num_inputs; }
  /// `[num_outputs, num_inputs]` of a member.
  const float* member_weight(int64_t member) const {
    return weight.value + member * num_outputs * num_inputs;
  }
  /// Whether any of its parameters gets a gradient.
  bool is_trained() const;
  /// Whether the batch norm uses its running statistics, in training only if it is frozen.
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
  std::vector<Table> tables;  // one for each of the last features, in their order
  std::optional<NumericEmbedding> numeric;
  TensorMemory input_scale;   // [members, inputs of the first block]; null: none
  std::vector<Block> blocks;  // the last one is a linear layer only
  int64_t num_members = 1;
  network::Mean mean = network::Mean::kOfNumbers;  // of several members
  TensorMemory output_scale;                       // [1] of a mean of probabilities
};

/// `tensors` are those of network::tensors(), in that order. Throws Error(kUsage) for a list of
/// layers that the kernels do not compute.
Blocks make_blocks(const network::NetworkSpec& network, std::span<const TensorMemory> tensors);

}  // namespace trainer::cpu
