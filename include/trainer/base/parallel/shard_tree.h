// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

// Floating-point sums depend on their order. So that a sum over the rows of a batch is the same for
// any number of processes, the rows are divided into shards, and the sums of the shards are added
// in a binary tree that depends only on the number of shards: neighbors first, then neighboring
// pairs. A process with all shards of a subtree can sum this subtree; adding the sums of subtrees
// gives the same bits.
namespace trainer {

/// The consecutive shards [begin, end) of a batch, such as those of one process.
struct ShardRange {
  int64_t begin = 0;
  int64_t end = 1;

  constexpr int64_t size() const { return end - begin; }
  bool operator==(const ShardRange&) const = default;
};

/// The index of the first row of a shard; `num_rows` for shard `num_shards`, so that a shard ends
/// where the next one begins.
constexpr int64_t shard_begin(int64_t shard, int64_t num_shards, int64_t num_rows) {
  return num_rows * shard / num_shards;
}

/// The shards of process `rank` of `size` processes, whose numbers of shards differ by at most 1.
constexpr ShardRange shards_of_rank(int64_t rank, int64_t size, int64_t num_shards) {
  return {num_shards * rank / size, num_shards * (rank + 1) / size};
}

/// The shard at which a subtree of at least two shards splits: the left half gets the largest power
/// of two that is less than the size.
constexpr int64_t middle_of(const ShardRange& subtree) {
  const auto last = static_cast<uint64_t>(subtree.size() - 1);
  return subtree.begin + static_cast<int64_t>(std::bit_floor(last));
}

/// The number of levels of splits in a subtree of `num_shards` shards: log2, rounded up.
constexpr int64_t tree_depth(int64_t num_shards) {
  return static_cast<int64_t>(std::bit_width(static_cast<uint64_t>(num_shards - 1)));
}

/// The largest number of shards of a batch, for which the buffers of trees are allocated.
inline constexpr int64_t kMaxShards = 1 << 12;
inline constexpr int64_t kMaxTreeDepths = tree_depth(kMaxShards) + 1;

/// Whether a range is a leaf of the tree over single shards; an `is_leaf` for sum_tree().
constexpr bool is_single_shard(const ShardRange& range) { return range.size() == 1; }

/// The fewest subtrees of the tree over `num_shards` shards that make up `range`, in ascending
/// order.
std::vector<ShardRange> subtrees_of(const ShardRange& range, int64_t num_shards);

/// The index of a subtree in `subtrees`, which are in ascending order; nothing if it is not there.
std::optional<std::size_t> find_subtree(std::span<const ShardRange> subtrees,
                                        const ShardRange& subtree);

/// Sums a subtree with one buffer per depth. Calls leaf(range, depth) for each range that is_leaf()
/// accepts, in ascending order, to put its sum into the buffer of `depth`; calls add(depth) to add
/// the buffer of `depth + 1` to that of `depth`. The result is in the buffer of the first depth.
template <class IsLeaf, class Leaf, class Add>
void sum_tree(const ShardRange& subtree, int64_t depth, const IsLeaf& is_leaf, const Leaf& leaf,
              const Add& add) {
  if (is_leaf(subtree)) return leaf(subtree, depth);
  const int64_t middle = middle_of(subtree);
  sum_tree({subtree.begin, middle}, depth, is_leaf, leaf, add);
  sum_tree({middle, subtree.end}, depth + 1, is_leaf, leaf, add);
  add(depth);
}

}  // namespace trainer
