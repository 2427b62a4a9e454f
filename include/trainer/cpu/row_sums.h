// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "trainer/core/shard_tree.h"
#include "trainer/cpu/product.h"

namespace trainer::cpu {

/// A gradient that a pass writes: the sum over `shards`, a subtree, at `offset` floats from the
/// memory of the parameter's gradient. Only that of a single shard may be added to what is there.
struct GradientSum {
  ShardRange shards;
  std::ptrdiff_t offset = 0;
  Accumulate accumulate = Accumulate::kNo;
};

/// How a pass sums over its rows, which are those of `shards`: the rows of each shard in their
/// order, then the shards as core/shard_tree.h says.
struct RowSums {
  int64_t num_shards = 1;        // of the batch; other processes have the others
  int64_t num_batch_rows = 0;    // of all of them
  ShardRange shards;             // of this pass
  std::vector<int64_t> borders;  // [shards.size() + 1] rows of the pass: of each shard, its first
  std::vector<GradientSum> gradients;
  std::vector<ShardRange> subtrees;      // that make up `shards`
  std::vector<ShardRange> all_subtrees;  // those of all processes
  /// Given `width` values for each of `subtrees`, returns those for each of `all_subtrees`, which
  /// stay valid until the next call. Empty if they are the same. Must not throw.
  std::function<std::span<const double>(std::span<const double> mine, std::size_t width)> gather;
  /// Called by one thread when `count` floats of each of `gradients` are complete, from `begin` (or
  /// its offset further) on, while others compute the rest. Must not throw. May be empty.
  std::function<void(float* begin, int64_t count)> finished;

  /// The first row of a shard, or that after the last one, in the pass.
  int64_t border(int64_t shard) const {
    return borders[static_cast<std::size_t>(shard - shards.begin)];
  }
  /// How many rows of the batch are in these shards of it.
  int64_t num_rows(const ShardRange& range) const {
    return shard_begin(range.end, num_shards, num_batch_rows) -
           shard_begin(range.begin, num_shards, num_batch_rows);
  }
};

/// The sums over a whole pass of rows, as one shard.
RowSums sums_of_one_shard(int64_t num_rows, Accumulate accumulate = Accumulate::kNo);

}  // namespace trainer::cpu
