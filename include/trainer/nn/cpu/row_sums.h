// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "trainer/base/parallel/shard_tree.h"
#include "trainer/nn/cpu/product.h"

namespace trainer::cpu {

/// A gradient that a pass writes: the sum over `shards`, which are a subtree, `offset` floats after
/// the memory of the parameter's gradient. Accumulation is possible only for a single shard.
struct GradientSum {
  ShardRange shards;
  std::ptrdiff_t offset = 0;
  Accumulate accumulate = Accumulate::kNo;
};

/// The order in which a pass sums over its rows, the rows of `shards`: first the rows of each
/// shard, in order, then the shards in the tree of base/parallel/shard_tree.h.
struct RowSums {
  int64_t num_shards = 1;      // of the whole batch, over all processes
  int64_t num_batch_rows = 0;  // rows of the whole batch, over all processes
  ShardRange shards;           // the shards of this pass
  /// [shards.size() + 1] first row of each shard in the pass, then the number of rows.
  std::vector<int64_t> borders;
  std::vector<GradientSum> gradients;
  std::vector<ShardRange> subtrees;      // the fewest subtrees that make up `shards`
  std::vector<ShardRange> all_subtrees;  // the subtrees of all processes
  /// Takes `width` values for each of `subtrees` and returns those of `all_subtrees`, which stay
  /// valid until the next call. Empty if this process has all subtrees. Must not throw.
  std::function<std::span<const double>(std::span<const double> mine, std::size_t width)> gather;
  /// Called by one thread, while others still compute, when `count` floats of each of `gradients`
  /// are complete: those from `begin + offset` on, with the offset of each. Must not throw. May be
  /// empty.
  std::function<void(float* begin, int64_t count)> finished;

  /// The first row of `shard` in the pass; for `shards.end`, the number of rows of the pass.
  int64_t border(int64_t shard) const {
    return borders[static_cast<std::size_t>(shard - shards.begin)];
  }
  /// The number of rows of the batch in a range of its shards.
  int64_t num_rows(const ShardRange& range) const {
    return shard_begin(range.end, num_shards, num_batch_rows) -
           shard_begin(range.begin, num_shards, num_batch_rows);
  }
};

/// The settings for a pass over a batch of a single shard, in a single process.
RowSums sums_of_one_shard(int64_t num_rows, Accumulate accumulate = Accumulate::kNo);

}  // namespace trainer::cpu
