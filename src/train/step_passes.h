// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "trainer/cpu/row_sums.h"
#include "trainer/dist/division.h"
#include "trainer/dist/world.h"
#include "trainer/model/parameters.h"
#include "trainer/train/step.h"

// The passes of a fused step, and the gradients that they write.
namespace trainer::train {

/// One gradient for each shard of this process: that of a subtree is in the place of its first
/// shard. A process alone with one shard uses the model's own.
class GradientMemory {
 public:
  GradientMemory(const model::FlatParameters& flat, const dist::World& world,
                 const dist::Division& division);

  float* first() const { return first_; }
  std::ptrdiff_t offset(int64_t index) const { return index * stride_; }
  float* at(int64_t index) const { return first_ + offset(index); }

  /// Adds floats [begin, end) of the shards of each subtree, from one gradient for each shard.
  void add_shards(const dist::Division& division, int64_t begin, int64_t end) const;

 private:
  int64_t stride_;
  std::shared_ptr<void> memory_;
  float* first_;
};

/// Rows of the window that go through the network together, and how they are summed.
struct StepPass {
  int64_t first_row = 0;  // in the window
  int64_t num_rows = 0;
  int64_t first_shard = 0;  // of the shards of this process
  cpu::RowSums sums;
};

/// The passes of a step, in `passes`, whose memory is used again. In a single one the shards of
/// this process are summed while their products are in the cache. Several passes add to the
/// gradient of each shard; the shards are to be summed after the last one.
/// Where batch norm is over shards, each shard has passes of its own.
void plan_passes(const Window& window, const dist::Division& division,
                 const GradientMemory& gradients, NormalizesOver over,
                 std::vector<StepPass>& passes);

}  // namespace trainer::train
