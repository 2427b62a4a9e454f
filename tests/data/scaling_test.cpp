// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/scaling.h"

#include <cmath>

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

TEST(ScalingTest, NoneChangesNothing) {
  const Scaling scaling = fit_scaling({2, 2, Floats{1, 10, 3, 30}}, ScalingMethod::kNone);
  EXPECT_EQ(scaling.shift, (Floats{0, 0}));
  EXPECT_EQ(scaling.scale, (Floats{1, 1}));
}

TEST(ScalingTest, ConstantColumnsBecomeZero) {
  const Matrix features{3, 1, Floats{0.1f, 0.1f, 0.1f}};
  for (const ScalingMethod method : {ScalingMethod::kStandard, ScalingMethod::kMinMax}) {
    const Scaling scaling = fit_scaling(features, method);
    EXPECT_EQ(scaling.shift, Floats{0.1f});
    EXPECT_EQ(scaling.scale, Floats{1});
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

}  // namespace
}  // namespace trainer::data
