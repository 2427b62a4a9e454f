// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "trainer/cpu/blocks.h"
#include "trainer/cpu/buffer.h"
#include "trainer/cpu/operands.h"
#include "trainer/cpu/row_sums.h"

namespace trainer::cpu {

/// Samples of a step that go through the network together.
struct NetworkBatch {
  GatherSource source;
  const int64_t* rows = nullptr;  // [num_rows] of the source
  int64_t num_rows = 0;
  uint64_t dropout_seed = 0;
  double dropout_factor = 1;  // of the probabilities
  int64_t first_row = 0;      // of this batch within the step
};

/// Memory for the weights of a layer as the products of one direction take them, if the threads of
/// a pass share them.
struct WeightPanels {
  Buffer memory;
  std::unique_ptr<uint32_t[]> states;  // [members, depth blocks, panels]
  int64_t num_depth_blocks = 0;
  int64_t num_panels = 0;
};

/// A thread in a pass.
struct Worker {
  float* scratch = nullptr;
  int64_t thread = 0;
  bool shares_panels = false;  // with those that take other rows
};

/// A block and its values in a pass. Matrices have `stride` floats from row to row; each row of
/// the batch is a row of them for each member, next to each other.
struct NetworkLayer {
  Block block;
  int64_t stride = 0;
  Buffer pre;            // products of the linear part; after a norm the normalized values
  Buffer out;            // hidden layers only, as all below
  Buffer noise;          // of dropout
  Buffer mix_gradients;  // of a trained parametric activation
  Buffer inverse_std;    // of the norm
  std::vector<double> subtree_sums;  // of a batch norm in shards: [subtrees, 2, num_outputs]
  std::vector<double> batch_sums;    // [2, num_outputs]
  Buffer gradients;                  // memory of the three below, which may coincide
  float* out_gradient = nullptr;     // with respect to `out`
  float* normed_gradient = nullptr;  // with respect to the activation's input
  float* pre_gradient = nullptr;     // with respect to the output of the linear layer
  WeightPanels panels;               // of the weights in the forward pass
  WeightPanels gradient_panels;      // and in the backward pass

  /// Of all its buffers.
  int64_t num_floats() const {
    return pre.size() + out.size() + noise.size() + mix_gradients.size() + inverse_std.size() +
           gradients.size() + panels.memory.size() + gradient_panels.memory.size();
  }
};

/// Rows of a pass.
struct RowRange {
  int64_t begin = 0;
  int64_t count = 0;
};

/// The rows of a shard in a pass.
inline RowRange rows_of_shard(const RowSums& sums, int64_t shard) {
  return {.begin = sums.border(shard), .count = sums.border(shard + 1) - sums.border(shard)};
}

/// Where a tile is written.
struct TileMemory {
  float* values = nullptr;
  int64_t stride = 0;
};

}  // namespace trainer::cpu
