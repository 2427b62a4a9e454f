// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/philox.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace trainer {
namespace {

using Words = std::array<uint32_t, 4>;

// Known answers of Random123 (kat_vectors, philox4x32 with 10 rounds).
TEST(PhiloxTest, GivesTheKnownAnswersOfRandom123) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(PhiloxTest, StreamsAreTheBlocksThatTheHeaderDescribes) {
  const uint64_t seed = 0x1111111122222222;
  PhiloxStream stream(seed, StreamId::kSplit, 0x3333333344444444);
  for (uint32_t block = 0; block < 3; ++block) {
    const Words expected = philox4x32({block, 0x44444444, 0x33333333, 2}, {0x22222222, 0x11111111});
    for (const uint32_t word : expected) EXPECT_EQ(stream.next_u32(), word);
  }
}

TEST(PhiloxTest, StreamsDifferBySeedPurposeAndIndex) {
  const uint64_t first = PhiloxStream(1, StreamId::kOrder, 0).next_u64();
  EXPECT_NE(first, PhiloxStream(2, StreamId::kOrder, 0).next_u64());
  EXPECT_NE(first, PhiloxStream(1, StreamId::kSplit, 0).next_u64());
  EXPECT_NE(first, PhiloxStream(1, StreamId::kOrder, 1).next_u64());
  EXPECT_EQ(first, PhiloxStream(1, StreamId::kOrder, 0).next_u64());
}

TEST(PhiloxTest, BelowStaysBelowItsBoundAndReachesEveryValue) {
  PhiloxStream stream(7, StreamId::kOrder);
  std::vector<int> counts(6, 0);
  for (int draw = 0; draw < 6000; ++draw) ++counts.at(static_cast<size_t>(stream.below(6)));
  for (const int count : counts) EXPECT_NEAR(count, 1000, 150);
  EXPECT_EQ(stream.below(1), 0u);
  const uint64_t large = (uint64_t{1} << 63) + 1;  // nearly half of all draws are rejected
  for (int draw = 0; draw < 100; ++draw) EXPECT_LT(stream.below(large), large);
}

TEST(PhiloxTest, UniformAndNormalHaveTheirMoments) {
  PhiloxStream stream(3, StreamId::kSynthetic);
  constexpr int kDraws = 20000;
  double uniform_sum = 0, normal_sum = 0, normal_squares = 0;
  for (int draw = 0; draw < kDraws; ++draw) {
    const double uniform = stream.uniform();
    const double normal = stream.normal();
    ASSERT_TRUE(uniform >= 0 && uniform < 1);
    uniform_sum += uniform;
    normal_sum += normal;
    normal_squares += normal * normal;
  }
  EXPECT_NEAR(uniform_sum / kDraws, 0.5, 0.01);
  EXPECT_NEAR(normal_sum / kDraws, 0.0, 0.03);
  EXPECT_NEAR(normal_squares / kDraws, 1.0, 0.04);
}

TEST(PhiloxTest, ShuffleIsAPermutation) {
  std::vector<int64_t> values(1000);
  std::iota(values.begin(), values.end(), 0);
  PhiloxStream stream(5, StreamId::kOrder);
  shuffle(values, stream);
  EXPECT_FALSE(std::is_sorted(values.begin(), values.end()));
  std::sort(values.begin(), values.end());
  for (size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], static_cast<int64_t>(i));
}

TEST(PhiloxTest, ShuffleLeavesNothingAndOneAsTheyAre) {
  PhiloxStream stream(5, StreamId::kOrder);
  std::vector<int64_t> none, one = {9};
  shuffle(none, stream);
  shuffle(one, stream);
  EXPECT_EQ(one, std::vector<int64_t>{9});
}

}  // namespace
}  // namespace trainer
