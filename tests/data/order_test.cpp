// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/order.h"

#include <algorithm>
#include <cstddef>

#include <gtest/gtest.h>

namespace trainer::data {
namespace {

using Rows = std::vector<int64_t>;

// These numbers may never change: a checkpoint of an older version continues in this order.
TEST(OrderTest, IsTheSameOnEveryPlatformForEver) {
  EXPECT_EQ(epoch_order(10, 42, 0), (Rows{1, 6, 9, 8, 0, 3, 4, 2, 7, 5}));
  EXPECT_EQ(epoch_order(10, 42, 1), (Rows{5, 4, 1, 6, 0, 3, 8, 9, 7, 2}));
}

TEST(OrderTest, IsAPermutation) {
  Rows order = epoch_order(1000, 7, 3);
  std::sort(order.begin(), order.end());
  for (size_t i = 0; i < order.size(); ++i) ASSERT_EQ(order[i], static_cast<int64_t>(i));
}

TEST(OrderTest, DependsOnSeedAndEpoch) {
  EXPECT_NE(epoch_order(1000, 1, 0), epoch_order(1000, 2, 0));
  EXPECT_NE(epoch_order(1000, 1, 0), epoch_order(1000, 1, 1));
  EXPECT_EQ(epoch_order(1000, 1, 1), epoch_order(1000, 1, 1));
}

TEST(OrderTest, OrdersNothingAndOne) {
  EXPECT_EQ(epoch_order(0, 1, 0), Rows{});
  EXPECT_EQ(epoch_order(1, 1, 0), Rows{0});
}

}  // namespace
}  // namespace trainer::data
