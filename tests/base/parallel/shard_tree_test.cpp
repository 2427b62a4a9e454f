// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/parallel/shard_tree.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace trainer {
namespace {

std::string name(int64_t shard) { return std::to_string(shard); }

bool is_single(const ShardRange& range) { return range.size() == 1; }

// The sum of a subtree as it would be written.
std::string written(const ShardRange& subtree) {
  std::vector<std::string> depths(16);
  sum_tree(
      subtree, 0, is_single,
      [&](const ShardRange& range, int64_t depth) {
        depths[static_cast<std::size_t>(depth)] = name(range.begin);
      },
      [&](int64_t depth) {
        const auto d = static_cast<std::size_t>(depth);
        depths[d] = "(" + depths[d] + "+" + depths[d + 1] + ")";
      });
  return depths.front();
}

TEST(ShardTreeTest, AddsNeighborsFirst) {
  EXPECT_EQ(written({0, 1}), "0");
  EXPECT_EQ(written({0, 2}), "(0+1)");
  EXPECT_EQ(written({0, 3}), "((0+1)+2)");
  EXPECT_EQ(written({0, 4}), "((0+1)+(2+3))");
  EXPECT_EQ(written({0, 6}), "(((0+1)+(2+3))+(4+5))");
  EXPECT_EQ(written({0, 7}), "(((0+1)+(2+3))+((4+5)+6))");
}

TEST(ShardTreeTest, RowsAreDividedEvenly) {
  EXPECT_EQ(shard_begin(0, 4, 10), 0);
  EXPECT_EQ(shard_begin(1, 4, 10), 2);
  EXPECT_EQ(shard_begin(2, 4, 10), 5);
  EXPECT_EQ(shard_begin(3, 4, 10), 7);
  EXPECT_EQ(shard_begin(4, 4, 10), 10);
}

TEST(ShardTreeTest, ARankWithAnAlignedBlockHasOneSubtree) {
  EXPECT_EQ(subtrees_of({0, 8}, 8), (std::vector<ShardRange>{{0, 8}}));
  EXPECT_EQ(subtrees_of({4, 8}, 8), (std::vector<ShardRange>{{4, 8}}));
  EXPECT_EQ(subtrees_of({4, 6}, 8), (std::vector<ShardRange>{{4, 6}}));
  EXPECT_EQ(subtrees_of({4, 7}, 7), (std::vector<ShardRange>{{4, 7}}));
  EXPECT_EQ(subtrees_of({0, 7}, 7), (std::vector<ShardRange>{{0, 7}}));
}

TEST(ShardTreeTest, OtherRangesAreAFewSubtrees) {
  EXPECT_EQ(subtrees_of({2, 5}, 8), (std::vector<ShardRange>{{2, 4}, {4, 5}}));
  EXPECT_EQ(subtrees_of({5, 8}, 8), (std::vector<ShardRange>{{5, 6}, {6, 8}}));
  EXPECT_EQ(subtrees_of({1, 8}, 8), (std::vector<ShardRange>{{1, 2}, {2, 4}, {4, 8}}));
  EXPECT_TRUE(subtrees_of({3, 3}, 8).empty());
}

// Adds the subtrees of all ranks, as if each were one value.
TEST(ShardTreeTest, TheSubtreesOfAnyNumberOfRanksMakeTheSameSum) {
  for (int64_t num_shards = 1; num_shards <= 19; ++num_shards) {
    const std::string expected = written({0, num_shards});
    for (int64_t size = 1; size <= 21; ++size) {
      std::vector<ShardRange> all;
      for (int64_t rank = 0; rank < size; ++rank) {
        for (const ShardRange& subtree :
             subtrees_of(shards_of_rank(rank, size, num_shards), num_shards)) {
          all.push_back(subtree);
        }
      }
      std::vector<std::string> depths(16);
      sum_tree(
          {0, num_shards}, 0,
          [&](const ShardRange& range) {
            return std::find(all.begin(), all.end(), range) != all.end();
          },
          [&](const ShardRange& range, int64_t depth) {
            depths[static_cast<std::size_t>(depth)] = written(range);
          },
          [&](int64_t depth) {
            const auto d = static_cast<std::size_t>(depth);
            depths[d] = "(" + depths[d] + "+" + depths[d + 1] + ")";
          });
      EXPECT_EQ(depths.front(), expected) << num_shards << " shards, " << size << " ranks";
    }
  }
}

TEST(ShardTreeTest, TheDepthIsHowOftenATreeDivides) {
  EXPECT_EQ(tree_depth(1), 0);
  EXPECT_EQ(tree_depth(2), 1);
  EXPECT_EQ(tree_depth(3), 2);
  EXPECT_EQ(tree_depth(4), 2);
  EXPECT_EQ(tree_depth(4096), 12);
}

TEST(ShardTreeTest, ASubtreeIsFoundAmongThoseOfARange) {
  const std::vector<ShardRange> subtrees = subtrees_of({1, 7}, 8);  // 1, 2-3, 4-5, 6
  for (std::size_t i = 0; i < subtrees.size(); ++i) {
    EXPECT_EQ(find_subtree(subtrees, subtrees[i]), i);
  }
  EXPECT_EQ(find_subtree(subtrees, {2, 3}), std::nullopt);
  EXPECT_EQ(find_subtree(subtrees, {0, 8}), std::nullopt);
  EXPECT_EQ(find_subtree(subtrees, {7, 8}), std::nullopt);
}

}  // namespace
}  // namespace trainer
