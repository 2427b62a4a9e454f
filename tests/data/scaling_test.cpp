// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/scaling.h"

#include <cmath>
#include <utility>
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

TEST(ScalingTest, QuantilesOfFewValuesAreTheValuesSorted) {
  EXPECT_EQ(find_quantiles({3, 1, 2, 1}), (std::vector<float>{1, 1, 2, 3}));
  EXPECT_EQ(find_quantiles({5}), std::vector<float>{5});
}

TEST(ScalingTest, OfManyValuesThereAreAHundredQuantiles) {
  std::vector<float> values(199);  // 0, 0.5, ... 99: every second one, and both ends
  for (size_t i = 0; i < values.size(); ++i) values[198 - i] = static_cast<float>(i) / 2;
  std::vector<float> expected(100);
  for (size_t i = 0; i < expected.size(); ++i) expected[i] = static_cast<float>(i);
  EXPECT_EQ(find_quantiles(values), expected);
  values.push_back(1000);  // 200 values: the second quantile lies at 199 / 99 = 2 + 1/99
  const std::vector<float> others = find_quantiles(values);
  ASSERT_EQ(others.size(), 100U);
  EXPECT_EQ(others.front(), 0);
  EXPECT_FLOAT_EQ(others[1], static_cast<float>(1 + 0.5 / 99));
  EXPECT_EQ(others.back(), 1000);
}

TEST(ScalingTest, APlaceLiesBetweenQuantilesInProportionAndWithinTheEnds) {
  const std::vector<float> quantiles = {0, 1, 3, 11, 12};  // ranks -1, -0.5, 0, 0.5, 1
  const std::vector<std::pair<float, float>> ranks = {
      {-7, -1},    {0, -1},    {0.5F, -0.75F}, {1, -0.5F}, {2, -0.25F}, {3, 0},
      {5, 0.125F}, {11, 0.5F}, {11.5F, 0.75F}, {12, 1},    {1e30F, 1}};
  for (const auto& [value, rank] : ranks) {
    EXPECT_EQ(quantile_rank(quantiles, value), rank) << value;
  }
}

TEST(ScalingTest, EqualQuantilesShareTheMiddleOfTheirPlaces) {
  const std::vector<float> quantiles = {0, 0, 0, 4, 8, 8, 9};  // ranks -1, -2/3, ... 1
  EXPECT_FLOAT_EQ(quantile_rank(quantiles, 0), -2.0F / 3);
  EXPECT_FLOAT_EQ(quantile_rank(quantiles, -1), -1);
  EXPECT_FLOAT_EQ(quantile_rank(quantiles, 2), -1.0F / 6);  // half way from the third to the fourth
  EXPECT_FLOAT_EQ(quantile_rank(quantiles, 8), 0.5F);
  EXPECT_FLOAT_EQ(quantile_rank(quantiles, 9), 1);
  EXPECT_EQ(quantile_rank(std::vector<float>{7, 7, 7}, 7), 0);
  EXPECT_EQ(quantile_rank(std::vector<float>{7}, 8), 0);
}

TEST(ScalingTest, FeaturesThatArePlacesAreLeftAsTheyAre) {
  const Scaling scaling =
      fit_scaling({2, 1, std::vector<float>{3, 9}}, config::ScalingMethod::kQuantile);
  EXPECT_EQ(scaling.shift, std::vector<float>{0});
  EXPECT_EQ(scaling.scale, std::vector<float>{1});
}

}  // namespace
}  // namespace trainer::data
