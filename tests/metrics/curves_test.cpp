// SPDX-License-Identifier: Apache-2.0
#include "trainer/metrics/curves.h"

#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace trainer::metrics {
namespace {

using Numbers = std::vector<double>;
using Flags = std::vector<uint8_t>;

// sklearn.metrics.roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], drop_intermediate=False)
TEST(CurvesTest, TheRocCurveHasAPointForEachScore) {
  const Curve curve = roc_curve(Numbers{0.1, 0.4, 0.35, 0.8}, Flags{0, 0, 1, 1});
  EXPECT_EQ(curve.x, (Numbers{0, 0, 0.5, 0.5, 1}));
  EXPECT_EQ(curve.y, (Numbers{0, 0.5, 0.5, 1, 1}));
}

TEST(CurvesTest, EqualScoresAreOnePoint) {
  const Curve curve = roc_curve(Numbers{0.5, 0.5, 0.5}, Flags{0, 1, 0});
  EXPECT_EQ(curve.x, (Numbers{0, 1}));
  EXPECT_EQ(curve.y, (Numbers{0, 1}));
}

// sklearn.metrics.precision_recall_curve of the same, from the largest score down, without the
// point (0, 1) that it adds.
TEST(CurvesTest, PrecisionAndRecallAreThoseAtEachScore) {
  const Curve curve = precision_recall_curve(Numbers{0.1, 0.4, 0.35, 0.8}, Flags{0, 0, 1, 1});
  EXPECT_EQ(curve.x, (Numbers{0.5, 0.5, 1, 1}));
  EXPECT_EQ(curve.y, (Numbers{1, 0.5, 2.0 / 3, 0.5}));
}

TEST(CurvesTest, WhatIsNoNumberComesLast) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Curve curve = roc_curve(Numbers{nan, 0.1}, Flags{1, 0});
  EXPECT_EQ(curve.x, (Numbers{0, 1, 1}));
  EXPECT_EQ(curve.y, (Numbers{0, 0, 1}));
}

TEST(CurvesTest, WithoutBothKindsOfRowsThereIsNone) {
  EXPECT_TRUE(roc_curve(Numbers{0.5}, Flags{1}).x.empty());
  EXPECT_TRUE(roc_curve(Numbers{}, Flags{}).x.empty());
  EXPECT_TRUE(precision_recall_curve(Numbers{0.5}, Flags{0}).x.empty());
}

TEST(CurvesTest, ReliabilityHasABinForEachPartWithRows) {
  const std::vector<ReliabilityBin> bins =
      reliability(Numbers{0.1, 0.2, 0.9, 1}, Flags{0, 1, 1, 1}, 4);
  ASSERT_EQ(bins.size(), 2U);
  EXPECT_DOUBLE_EQ(bins[0].mean_probability, 0.15);
  EXPECT_EQ(bins[0].frequency, 0.5);
  EXPECT_EQ(bins[0].num_rows, 2);
  EXPECT_DOUBLE_EQ(bins[1].mean_probability, 0.95);
  EXPECT_EQ(bins[1].frequency, 1);
}

}  // namespace
}  // namespace trainer::metrics
