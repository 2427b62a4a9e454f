// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "trainer/nn/cpu/blocks.h"
#include "trainer/nn/cpu/buffer.h"
#include "trainer/nn/cpu/operands.h"
#include "trainer/nn/cpu/row_sums.h"

namespace trainer::cpu {

/// The samples of a step that go through the network together.
struct NetworkBatch {
  GatherSource source;
  const int64_t* rows = nullptr;  // [num_rows] indices of rows of the source
  int64_t num_rows = 0;
  uint64_t dropout_seed = 0;
  double dropout_factor = 1;  // multiplies the dropout probabilities of all layers
  /// Index of the batch's first row within the step, for the dropout noise.
  int64_t first_row = 0;
};

/// The packed weights of a layer for the products of the forward or of the backward pass, shared by
/// the threads of a pass. Empty if they are not shared.
struct WeightPanels {
  Buffer memory;
  std::unique_ptr<uint32_t[]> states;  // [members, depth blocks, panels]
  int64_t num_depth_blocks = 0;
  int64_t num_panels = 0;
};

/// What a thread needs to compute products in a pass.
struct Worker {
  float* scratch = nullptr;
  int64_t thread = 0;
  bool shares_panels = false;  // packed weights are shared with threads that compute other rows
};

/// A block and its activations and gradients in a pass. The rows of the matrices are `stride`
/// floats apart. Each row of the batch has one row per member, next to each other.
struct NetworkLayer {
  Block block;
  int64_t stride = 0;
  /// Output of the linear layer without bias; with a norm, the normalized values.
  Buffer pre;
  Buffer out;                        // hidden layers only, as all below down to normed_gradient
  Buffer noise;                      // dropout factors of the activations
  Buffer mix_gradients;              // terms of the gradient of a trained parametric activation
  Buffer inverse_std;                // reciprocal standard deviations of the norm
  std::vector<double> subtree_sums;  // [subtrees, 2, num_outputs] for a batch norm in shards
  std::vector<double> batch_sums;    // [2, num_outputs]
  Buffer gradients;                  // memory of the three gradients below, which may be the same
  float* out_gradient = nullptr;     // with respect to `out`
  float* normed_gradient = nullptr;  // with respect to the activation's input
  float* pre_gradient = nullptr;     // with respect to the output of the linear layer
  WeightPanels panels;               // packed weights for the forward pass
  WeightPanels gradient_panels;      // packed weights for the backward pass

  /// The size of all buffers, in floats.
  int64_t num_floats() const {
    return pre.size() + out.size() + noise.size() + mix_gradients.size() + inverse_std.size() +
           gradients.size() + panels.memory.size() + gradient_panels.memory.size();
  }
};

/// The rows [begin, begin + count) of a pass.
struct RowRange {
  int64_t begin = 0;
  int64_t count = 0;
};

/// The rows of a shard in a pass.
inline RowRange rows_of_shard(const RowSums& sums, int64_t shard) {
  return {.begin = sums.border(shard), .count = sums.border(shard + 1) - sums.border(shard)};
}

/// The destination of a tile: memory with rows `stride` floats apart.
struct TileMemory {
  float* values = nullptr;
  int64_t stride = 0;
};

}  // namespace trainer::cpu
