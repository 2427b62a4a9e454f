// SPDX-License-Identifier: Apache-2.0
#include "trainer/table/split/order.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include <gtest/gtest.h>

#include "trainer/table/table.h"

namespace trainer::data {
namespace {

using Rows = std::vector<int64_t>;

Rows whole_order(int64_t num_rows, uint64_t seed, int64_t epoch) {
  return order_part({.num_rows = num_rows, .window = std::max<int64_t>(1, num_rows), .seed = seed},
                    epoch, 0)
      .rows;
}

Rows count_to(int64_t size) {
  Rows rows(static_cast<size_t>(size));
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

Rows sorted(Rows rows) {
  std::sort(rows.begin(), rows.end());
  return rows;
}

// The windows of an epoch, one after the other.
std::vector<OrderPart> all_parts(const OrderOptions& options, int64_t epoch) {
  std::vector<OrderPart> parts{order_part(options, epoch, 0)};
  while (parts.back().end() < options.num_rows) {
    parts.push_back(order_part(options, epoch, parts.back().end()));
  }
  return parts;
}

Rows joined(const std::vector<OrderPart>& parts) {
  Rows rows;
  for (const OrderPart& part : parts) rows.insert(rows.end(), part.rows.begin(), part.rows.end());
  return rows;
}

Matrix features(int64_t num_rows, int64_t num_columns) {
  return {num_rows, num_columns, Array<float>()};
}

// These numbers may never change: a checkpoint of an older version continues in this order.
TEST(OrderTest, IsTheSameOnEveryPlatformForEver) {
  EXPECT_EQ(whole_order(10, 42, 0), (Rows{1, 6, 9, 8, 0, 3, 4, 2, 7, 5}));
  EXPECT_EQ(whole_order(10, 42, 1), (Rows{5, 4, 1, 6, 0, 3, 8, 9, 7, 2}));
  const OrderOptions windows{.num_rows = 10, .window = 4, .block = 2, .seed = 42};
  EXPECT_EQ(joined(all_parts(windows, 0)), (Rows{4, 9, 5, 8, 2, 3, 6, 7, 1, 0}));
  EXPECT_EQ(joined(all_parts(windows, 1)), (Rows{0, 2, 3, 1, 7, 6, 4, 5, 9, 8}));
}

TEST(OrderTest, IsAPermutation) {
  EXPECT_EQ(sorted(whole_order(1000, 7, 3)), count_to(1000));
  for (const int64_t num_rows : {101, 128, 999, 1000}) {
    for (const int64_t block : {1, 3, 8, 100}) {
      const OrderOptions options{.num_rows = num_rows, .window = 100, .block = block, .seed = 7};
      EXPECT_EQ(sorted(joined(all_parts(options, 3))), count_to(num_rows)) << num_rows << block;
    }
  }
}

TEST(OrderTest, DependsOnSeedAndEpoch) {
  EXPECT_NE(whole_order(1000, 1, 0), whole_order(1000, 2, 0));
  EXPECT_NE(whole_order(1000, 1, 0), whole_order(1000, 1, 1));
  EXPECT_EQ(whole_order(1000, 1, 1), whole_order(1000, 1, 1));
  const auto first_window = [](uint64_t seed, int64_t epoch) {
    return order_part({.num_rows = 1000, .window = 100, .block = 10, .seed = seed}, epoch, 0).rows;
  };
  EXPECT_NE(first_window(1, 0), first_window(2, 0));
  EXPECT_NE(first_window(1, 0), first_window(1, 1));
  EXPECT_EQ(first_window(1, 1), first_window(1, 1));
}

TEST(OrderTest, OrdersNothingAndOne) {
  EXPECT_EQ(whole_order(0, 1, 0), Rows{});
  EXPECT_EQ(whole_order(1, 1, 0), Rows{0});
}

TEST(OrderTest, AllPlacesOfAWindowNameIt) {
  const OrderOptions options{.num_rows = 103, .window = 20, .block = 5, .seed = 3};
  for (const OrderPart& part : all_parts(options, 2)) {
    for (int64_t position = part.begin; position < part.end(); ++position) {
      const OrderPart same = order_part(options, 2, position);
      EXPECT_EQ(same.begin, part.begin);
      EXPECT_EQ(same.rows, part.rows);
    }
  }
}

TEST(OrderTest, AWindowIsMadeOfWholeBlocksInAnyOrder) {
  const OrderOptions options{.num_rows = 1000, .window = 100, .block = 10, .seed = 3};
  const std::vector<OrderPart> parts = all_parts(options, 0);
  ASSERT_EQ(parts.size(), 10U);
  for (const OrderPart& part : parts) {
    const Rows rows = sorted(part.rows);
    ASSERT_EQ(rows.size(), 100U);
    for (size_t i = 0; i < rows.size(); i += 10) {
      EXPECT_EQ(rows[i] % 10, 0);
      EXPECT_EQ(rows[i + 9], rows[i] + 9);
    }
    EXPECT_NE(part.rows, rows);
    EXPECT_GT(rows.back() - rows.front(), 300);  // from all over the table
  }
}

TEST(OrderTest, AWindowTakesHalfAGibibyteAndTwoMillionRowsAtMost) {
  EXPECT_EQ(order_options(features(50'000'000, 20), 0, 1).window, 2'097'152);
  EXPECT_EQ(order_options(features(50'000'000, 20), 0, 1).block, 3276);
  EXPECT_EQ(order_options(features(50'000'000, 784), 0, 1).window, 171'196);
  EXPECT_EQ(order_options({50'000'000, 784, Array<uint8_t>()}, 0, 1).window, 684'784);
  EXPECT_EQ(order_options(features(50'000'000, 784), 640, 1).window, 640);
  EXPECT_EQ(order_options(features(50'000'000, 784), 640, 1).block, 10);  // 64 of them
  EXPECT_EQ(order_options(features(50'000'000, 784), 3, 1).block, 1);
  EXPECT_FALSE(order_options(features(2'097'152, 20), 0, 1).has_windows());
  EXPECT_TRUE(order_options(features(2'097'153, 20), 0, 1).has_windows());
}

}  // namespace
}  // namespace trainer::data
