// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "trainer/distributed/world.h"
#include "trainer/nn/cpu/row_sums.h"
#include "trainer/torch/model/parameters.h"
#include "trainer/train/step.h"

// The passes of a fused step, and the gradients that they write.
namespace trainer::train {

/// Memory for one gradient per shard of this process. The gradient of a subtree is in the memory of
/// its first shard. A single process with one shard uses the memory of the model.
class GradientMemory {
 public:
  GradientMemory(const model::FlatParameters& flat, const dist::World& world,
                 const dist::Division& division);

  float* first() const { return first_; }
  std::ptrdiff_t offset(int64_t index) const { return index * stride_; }
  float* at(int64_t index) const { return first_ + offset(index); }

  /// Sums floats [begin, end) of the gradients of the shards of each subtree, into that of its
  /// first shard.
  void add_shards(const dist::Division& division, int64_t begin, int64_t end) const;

 private:
  int64_t stride_;
  std::shared_ptr<void> memory_;
  float* first_;
};

/// Rows of a window that go through the network together, and how they are summed.
struct StepPass {
  int64_t first_row = 0;  // index in the window
  int64_t num_rows = 0;
  int64_t first_shard = 0;  // index among the shards of this process
  cpu::RowSums sums;
};

/// Writes the passes of a step to `passes`, whose memory is reused. A single pass sums the shards
/// of this process while their products are in the cache. Several passes add to the gradient of
/// each shard, and the caller sums the shards after the last pass. If batch norm is over shards,
/// each shard has its own passes.
void plan_passes(const Window& window, const dist::Division& division,
                 const GradientMemory& gradients, NormalizesOver over,
                 std::vector<StepPass>& passes);

}  // namespace trainer::train
