// SPDX-License-Identifier: Apache-2.0
#include "trainer/table/schema/scaling.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace trainer::data {
namespace {

using config::ScalingMethod;
using Floats = std::vector<float>;
using Bytes = std::vector<uint8_t>;

TEST(ScalingTest, StandardTakesMeanAndDeviationOfThePopulation) {
  const Scaling scaling = fit_scaling({2, 2, Floats{1, 10, 3, 30}}, ScalingMethod::kStandard);
  EXPECT_EQ(scaling.shift, (Floats{2, 20}));
  EXPECT_EQ(scaling.scale, (Floats{1, 0.1f}));
}

TEST(ScalingTest, MinMaxTakesTheRange) {
  const Scaling scaling = fit_scaling({3, 1, Bytes{5, 255, 0}}, ScalingMethod::kMinMax);
  EXPECT_EQ(scaling.shift, Floats{0});
  EXPECT_EQ(scaling.scale, Floats{1.0f / 255});
}

TEST(ScalingTest, RobustTakesMedianAndQuartiles) {
  const Matrix features{5, 2, Floats{1, 0, 2, 10, 3, 20, 4, 30, 1000, 40}};
  const Scaling scaling = fit_scaling(features, ScalingMethod::kRobust);
  EXPECT_EQ(scaling.shift, (Floats{3, 20}));
  EXPECT_EQ(scaling.scale, (Floats{0.5f, 0.05f}));
}

TEST(ScalingTest, RobustLooksBetweenTwoRows) {
  const Scaling scaling = fit_scaling({4, 1, Bytes{40, 10, 30, 20}}, ScalingMethod::kRobust);
  EXPECT_EQ(scaling.shift, Floats{25});
  EXPECT_EQ(scaling.scale, Floats{1.0f / 15});
}

TEST(ScalingTest, RobustTakesTheDeviationWhereTheQuartilesAreEqual) {
  const Scaling scaling =
      fit_scaling({9, 1, Floats{0, 0, 0, 0, 0, 0, 0, 4, 8}}, ScalingMethod::kRobust);
  EXPECT_EQ(scaling.shift, Floats{0});
  EXPECT_FLOAT_EQ(scaling.scale.front(), static_cast<float>(1 / std::sqrt(80.0 / 9 - 144.0 / 81)));
}

// Marks of a category, however rare it is, are 2 apart.
TEST(ScalingTest, RobustPutsTwoValuesTwoApart) {
  const Scaling scaling =
      fit_scaling({8, 1, Floats{0, 0, 0, 0, 0, 0, 0, 8}}, ScalingMethod::kRobust);
  EXPECT_EQ(scaling.shift, Floats{0});
  EXPECT_EQ(scaling.scale, Floats{0.25F});
}

TEST(ScalingTest, NoneChangesNothing) {
  const Scaling scaling = fit_scaling({2, 2, Floats{1, 10, 3, 30}}, ScalingMethod::kNone);
  EXPECT_EQ(scaling.shift, (Floats{0, 0}));
  EXPECT_EQ(scaling.scale, (Floats{1, 1}));
}

TEST(ScalingTest, ConstantColumnsBecomeZeroWhateverTheyAreLater) {
  const Matrix features{3, 1, Floats{0.1f, 0.1f, 0.1f}};
  for (const ScalingMethod method :
       {ScalingMethod::kStandard, ScalingMethod::kMinMax, ScalingMethod::kRobust}) {
    const Scaling scaling = fit_scaling(features, method);
    EXPECT_EQ(scaling.shift, Floats{0.1f});
    EXPECT_EQ(scaling.scale, Floats{0});
  }
}

TEST(ScalingTest, StaysFiniteForExtremeColumns) {
  const Matrix features{2, 2, Floats{1e-45f, -3e38f, 0, 3e38f}};
  for (const ScalingMethod method : {ScalingMethod::kStandard, ScalingMethod::kMinMax}) {
    const Scaling scaling = fit_scaling(features, method);
    for (size_t column = 0; column < 2; ++column) {
      EXPECT_TRUE(std::isfinite(scaling.shift[column]));
      EXPECT_TRUE(std::isfinite(scaling.scale[column]));
      EXPECT_GT(scaling.scale[column], 0);
    }
  }
}

TEST(ScalingTest, KeepsAFarAwayColumnExact) {
  const Scaling scaling = fit_scaling({2, 1, Floats{16777214, 16777216}}, ScalingMethod::kStandard);
  EXPECT_EQ(scaling.shift, Floats{16777215});
  EXPECT_EQ(scaling.scale, Floats{1});
}

TEST(ScalingTest, FeaturesThatArePlacesAreLeftAsTheyAre) {
  const Scaling scaling =
      fit_scaling({2, 1, std::vector<float>{3, 9}}, config::ScalingMethod::kQuantile);
  EXPECT_EQ(scaling.shift, std::vector<float>{0});
  EXPECT_EQ(scaling.scale, std::vector<float>{1});
}

}  // namespace
}  // namespace trainer::data
