// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/parallel/shard_tree.h"

#include <algorithm>

namespace trainer {

std::vector<ShardRange> subtrees_of(const ShardRange& range, int64_t num_shards) {
  std::vector<ShardRange> subtrees;
  for (int64_t begin = range.begin; begin < range.end;) {
    // Subtrees of 2^k shards begin at multiples of 2^k; the last subtree may have fewer shards.
    int64_t size = 1;
    while (begin % (2 * size) == 0 && size < num_shards - begin &&
           std::min(begin + 2 * size, num_shards) <= range.end) {
      size *= 2;
    }
    subtrees.push_back({begin, std::min(begin + size, num_shards)});
    begin = subtrees.back().end;
  }
  return subtrees;
}

std::optional<std::size_t> find_subtree(std::span<const ShardRange> subtrees,
                                        const ShardRange& subtree) {
  const auto found =
      std::lower_bound(subtrees.begin(), subtrees.end(), subtree,
                       [](const ShardRange& a, const ShardRange& b) { return a.begin < b.begin; });
  if (found == subtrees.end() || *found != subtree) return std::nullopt;
  return static_cast<std::size_t>(found - subtrees.begin());
}

}  // namespace trainer
