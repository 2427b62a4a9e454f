// SPDX-License-Identifier: Apache-2.0
#include "devices/statistics.h"

#include <vector>

#include <gtest/gtest.h>

namespace trainer::bench {
namespace {

TEST(StatisticsTest, SummarizesTimesInAnyOrder) {
  const Summary summary = summarize({4, 1, 3, 2, 10});
  EXPECT_EQ(summary.num_steps, 5);
  EXPECT_DOUBLE_EQ(summary.average, 4);
  EXPECT_DOUBLE_EQ(summary.median, 3);
  EXPECT_DOUBLE_EQ(summary.min, 1);
  EXPECT_DOUBLE_EQ(summary.max, 10);
  EXPECT_DOUBLE_EQ(summary.lower_quartile, 2);
  EXPECT_DOUBLE_EQ(summary.upper_quartile, 4);
  EXPECT_NEAR(summary.variation, 0.88388, 1e-5);  // sqrt(50 / 4) / 4
}

TEST(StatisticsTest, SummarizesOneTimeAndNone) {
  const Summary one = summarize({2.5});
  EXPECT_DOUBLE_EQ(one.median, 2.5);
  EXPECT_DOUBLE_EQ(one.upper_quartile, 2.5);
  EXPECT_EQ(one.variation, 0);
  EXPECT_EQ(summarize({}).num_steps, 0);
}

TEST(StatisticsTest, TheMedianOfAnEvenNumberLiesBetweenTheTwoInTheMiddle) {
  EXPECT_DOUBLE_EQ(median({8, 1, 2, 4}), 3);
}

TEST(StatisticsTest, OneOutlierMovesTheAverageAndNotTheMedian) {
  const Summary summary = summarize({1, 1, 1, 1, 96});
  EXPECT_DOUBLE_EQ(summary.median, 1);
  EXPECT_DOUBLE_EQ(summary.average, 20);
}

TEST(StatisticsTest, AQuantileLiesOnTheLineBetweenItsNeighbours) {
  const std::vector<double> sorted = {0, 10, 20, 30};
  EXPECT_DOUBLE_EQ(quantile(sorted, 0), 0);
  EXPECT_DOUBLE_EQ(quantile(sorted, 0.25), 7.5);
  EXPECT_DOUBLE_EQ(quantile(sorted, 1), 30);
}

TEST(StatisticsTest, TheGeometricMeanOfAHalfAndADoubleIsOne) {
  EXPECT_DOUBLE_EQ(geometric_mean(std::vector<double>{0.5, 2}), 1);
  EXPECT_EQ(geometric_mean({}), 1);
}

}  // namespace
}  // namespace trainer::bench
