// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trainer/core/shard_tree.h"

namespace trainer::dist {

/// Elements [begin, end).
struct Segment {
  int64_t begin = 0;
  int64_t end = 0;

  int64_t size() const { return end - begin; }
};

/// Those of `size` floats that a rank adds, in whole cache lines.
Segment segment_of(int64_t rank, int64_t num_ranks, int64_t size);

/// Which ranks have which shards of a batch.
class Division {
 public:
  /// One shard for one rank.
  Division() : Division(1, 0, 1) {}
  /// As rank `rank` of `size` sees it.
  Division(int64_t num_shards, int64_t rank, int64_t size);

  int64_t num_shards() const { return num_shards_; }
  int64_t rank() const { return rank_; }
  int64_t num_ranks() const { return static_cast<int64_t>(subtrees_.size()); }
  /// The shards of this rank.
  const ShardRange& mine() const { return mine_; }
  /// The fewest subtrees (core/shard_tree.h) that make up the shards of a rank.
  const std::vector<ShardRange>& subtrees_of(int64_t rank) const {
    return subtrees_[static_cast<std::size_t>(rank)];
  }
  const std::vector<ShardRange>& my_subtrees() const { return subtrees_of(rank_); }
  /// Those of all ranks, in their order.
  const std::vector<ShardRange>& all_subtrees() const { return all_; }
  /// The most that one rank has.
  std::size_t max_subtrees() const { return max_subtrees_; }
  /// The most rows of a batch with so many that one rank has.
  int64_t max_rows(int64_t num_rows) const;

 private:
  int64_t num_shards_;
  int64_t rank_;
  ShardRange mine_;
  std::vector<std::vector<ShardRange>> subtrees_;
  std::vector<ShardRange> all_;
  std::size_t max_subtrees_ = 0;
};

}  // namespace trainer::dist
