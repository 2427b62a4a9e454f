// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trainer/base/parallel/shard_tree.h"

namespace trainer::dist {

/// The range of elements [begin, end) of an array.
struct Segment {
  int64_t begin = 0;
  int64_t end = 0;

  int64_t size() const { return end - begin; }
};

/// Returns the range of `size` floats that a rank is responsible for adding. Borders between ranks
/// are at whole cache lines.
Segment segment_of(int64_t rank, int64_t num_ranks, int64_t size);

/// The assignment of the shards of a batch to ranks.
class Division {
 public:
  /// A single rank with a single shard.
  Division() : Division(1, 0, 1) {}
  /// The division for rank `rank` of `size` ranks.
  Division(int64_t num_shards, int64_t rank, int64_t size);

  int64_t num_shards() const { return num_shards_; }
  int64_t rank() const { return rank_; }
  int64_t num_ranks() const { return static_cast<int64_t>(subtrees_.size()); }
  /// The range of shards that this rank has.
  const ShardRange& mine() const { return mine_; }
  /// The fewest subtrees (base/parallel/shard_tree.h) that make up the shards of a rank.
  const std::vector<ShardRange>& subtrees_of(int64_t rank) const {
    return subtrees_[static_cast<std::size_t>(rank)];
  }
  const std::vector<ShardRange>& my_subtrees() const { return subtrees_of(rank_); }
  /// The subtrees of all ranks, in the order of the ranks.
  const std::vector<ShardRange>& all_subtrees() const { return all_; }
  /// The largest number of subtrees that a rank has.
  std::size_t max_subtrees() const { return max_subtrees_; }
  /// An upper bound for the rows that a rank has of a batch of `num_rows` rows.
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
