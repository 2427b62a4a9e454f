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
// in a binary tree that depends on nothing but their number: neighbors first, then neighboring
// pairs. Whoever has all shards of a subtree can add them; whoever adds the subtrees gets the same
// bits.
namespace trainer {

/// Consecutive shards [begin, end).
struct ShardRange {
  int64_t begin = 0;
  int64_t end = 1;

  constexpr int64_t size() const { return end - begin; }
  bool operator==(const ShardRange&) const = default;
};

/// The first row of a shard; of shard `num_shards` it is `num_rows`.
constexpr int64_t shard_begin(int64_t shard, int64_t num_shards, int64_t num_rows) {
  return num_rows * shard / num_shards;
}

/// The shards that process `rank` of `size` has: nearly as many as each other one.
constexpr ShardRange shards_of_rank(int64_t rank, int64_t size, int64_t num_shards) {
  return {num_shards * rank / size, num_shards * (rank + 1) / size};
}

/// Where a subtree of at least two shards divides into two.
constexpr int64_t middle_of(const ShardRange& subtree) {
  const auto last = static_cast<uint64_t>(subtree.size() - 1);
  return subtree.begin + static_cast<int64_t>(std::bit_floor(last));
}

/// How often a subtree of so many shards divides, at most.
constexpr int64_t tree_depth(int64_t num_shards) {
  return static_cast<int64_t>(std::bit_width(static_cast<uint64_t>(num_shards - 1)));
}

/// The most shards of a batch; memory for trees is made for them.
inline constexpr int64_t kMaxShards = 1 << 12;
inline constexpr int64_t kMaxTreeDepths = tree_depth(kMaxShards) + 1;

/// Where a tree over shards has its leaves.
constexpr bool is_single_shard(const ShardRange& range) { return range.size() == 1; }

/// The fewest subtrees of the tree over `num_shards` that make up `range`, in their order.
std::vector<ShardRange> subtrees_of(const ShardRange& range, int64_t num_shards);

/// The index of a subtree among `subtrees`, which are in their order; nothing if it is none of
/// them.
std::optional<std::size_t> find_subtree(std::span<const ShardRange> subtrees,
                                        const ShardRange& subtree);

/// Sums a subtree: calls leaf(range, depth) for each range for which is_leaf(range), in order, and
/// add(depth) after each two that are added: the sum at `depth` becomes that of `depth` and
/// `depth + 1`. The result is at the first depth.
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
