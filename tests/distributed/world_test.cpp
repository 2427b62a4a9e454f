// SPDX-License-Identifier: Apache-2.0
#include "trainer/distributed/world.h"

#include <cmath>
#include <mutex>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/distributed/rank_text.h"
#include "trainer/distributed/reduction.h"

#include "support/thread_world.h"

namespace trainer::dist {
namespace {

using test::run_world;

using Floats = std::vector<float>;

// Numbers whose sum depends on the order.
Floats numbers_of_shard(int64_t shard, int64_t size) {
  Floats numbers(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = std::sin(static_cast<float>(shard * 977) + static_cast<float>(i)) *
                 std::pow(10.0F, static_cast<float>(shard % 5));
  }
  return numbers;
}

Floats sum_of(const ShardRange& subtree, int64_t size) {
  if (subtree.size() == 1) return numbers_of_shard(subtree.begin, size);
  Floats sum = sum_of({subtree.begin, middle_of(subtree)}, size);
  const Floats right = sum_of({middle_of(subtree), subtree.end}, size);
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += right[i];
  return sum;
}

// The sum as rank 0 gets it; all ranks must get the same. Returns the bytes that were sent.
std::size_t expect_sum(int64_t num_ranks, int64_t num_shards, int64_t size) {
  SCOPED_TRACE(::testing::Message()
               << num_ranks << " ranks, " << num_shards << " shards, " << size << " floats");
  const Floats expected = sum_of({0, num_shards}, size);
  std::mutex mutex;
  return run_world(num_ranks, [&](const std::shared_ptr<World>& world) {
    const Division division(num_shards, world->rank(), world->size());
    std::vector<Floats> values;
    std::vector<float*> mine;
    for (const ShardRange& subtree : division.my_subtrees())
      values.push_back(sum_of(subtree, size));
    for (Floats& value : values) mine.push_back(value.data());
    Floats nothing(static_cast<std::size_t>(size));
    // In the place of the first subtree, as a step does.
    float* out = mine.empty() ? nothing.data() : mine.front();
    Reduction reduction(*world, division);
    reduction.add(mine, size, out);
    reduction.finish();
    const std::lock_guard lock(mutex);
    EXPECT_EQ(Floats(out, out + size), expected) << "rank " << world->rank();
  });
}

TEST(WorldTest, AnyNumberOfRanksGivesTheBitsOfTheTree) {
  for (const int64_t num_shards : {1, 2, 3, 4, 5, 8, 13}) {
    for (int64_t num_ranks = 1; num_ranks <= 9; ++num_ranks) expect_sum(num_ranks, num_shards, 33);
  }
}

TEST(WorldTest, LongSumsInTwoRoundsGiveThemToo) {
  for (const int64_t num_shards : {1, 3, 4, 8}) {
    for (int64_t num_ranks = 1; num_ranks <= 5; ++num_ranks) {
      expect_sum(num_ranks, num_shards, 20'011);
    }
  }
}

TEST(WorldTest, PowersOfTwoSendAsMuchAsARing) {
  constexpr int64_t kSize = 1 << 16;
  for (const int64_t num_ranks : {2, 4, 8}) {
    const std::size_t ring =
        2 * static_cast<std::size_t>(num_ranks - 1) * kSize * sizeof(float);  // of all ranks
    EXPECT_EQ(expect_sum(num_ranks, 8, kSize), ring);
  }
}

TEST(WorldTest, EachRankGetsWhatAllOthersGive) {
  run_world(4, [](const std::shared_ptr<World>& world) {
    const auto mine = static_cast<int64_t>(100 + world->rank());
    std::vector<int64_t> all(4);
    world->gather(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all)));
    EXPECT_EQ(all, (std::vector<int64_t>{100, 101, 102, 103}));
    const std::string text(static_cast<std::size_t>(world->rank()), 'x');
    EXPECT_EQ(world->gather_texts(text), (std::vector<std::string>{"", "x", "xx", "xxx"}));
    EXPECT_EQ(world->broadcast_text("of " + std::to_string(world->rank())), "of 0");
    std::vector<int> parts(5, -1);
    const std::vector<std::size_t> begins = {0, 4, 4, 12, 20};
    for (std::size_t i = begins[static_cast<std::size_t>(world->rank())] / 4;
         i < begins[static_cast<std::size_t>(world->rank()) + 1] / 4; ++i) {
      parts[i] = static_cast<int>(world->rank());
    }
    world->gather_parts(std::as_writable_bytes(std::span(parts)), begins);
    EXPECT_EQ(parts, (std::vector<int>{0, 2, 2, 3, 3}));
  });
}

TEST(WorldTest, AProcessAloneSendsNothing) {
  World world;
  EXPECT_TRUE(world.is_alone());
  EXPECT_TRUE(world.is_first());
  EXPECT_EQ(world.gather_texts("mine"), std::vector<std::string>{"mine"});
  EXPECT_EQ(world.broadcast_text("mine"), "mine");
  Floats values = {1, 2, 3};
  const std::vector<float*> mine = {values.data()};
  const Division division(4, 0, 1);
  Reduction reduction(world, division);
  reduction.add(mine, 3, values.data());
  reduction.finish();
  EXPECT_EQ(values, (Floats{1, 2, 3}));
}

TEST(RankTextTest, IsShownWithoutWhatATerminalWouldObey) {
  EXPECT_EQ(shown("a \"path\\to\"\n\tänderte"), "a \"path\\to\"\n\\tänderte");
  EXPECT_EQ(shown("evil\x1b]0;PWNED\x07 \u202E\u202C \xc2\x9b \xff"),
            "evil\\x1b]0;PWNED\\x07 \\u202e\\u202c \\u009b \\xff");
}

}  // namespace
}  // namespace trainer::dist
