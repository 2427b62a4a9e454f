// SPDX-License-Identifier: Apache-2.0
#include "trainer/optim/scaler.h"

#include <gtest/gtest.h>

namespace trainer::optim {
namespace {

using checkpoint::Scaler;

TEST(ScalerTest, AnOverflowHalvesTheScaleAndBeginsToCountAnew) {
  const Scaler scaler = after_step({.scale = 1024, .good_steps = 7}, /*is_finite=*/false);
  EXPECT_EQ(scaler.scale, 512);
  EXPECT_EQ(scaler.good_steps, 0);
}

TEST(ScalerTest, TheScaleIsDoubledAfterTwoThousandGoodSteps) {
  Scaler scaler = kFirstScaler;
  for (int i = 0; i < 1999; ++i) scaler = after_step(scaler, /*is_finite=*/true);
  EXPECT_EQ(scaler.scale, 65536);
  EXPECT_EQ(scaler.good_steps, 1999);
  scaler = after_step(scaler, /*is_finite=*/true);
  EXPECT_EQ(scaler.scale, 131072);
  EXPECT_EQ(scaler.good_steps, 0);
}

TEST(ScalerTest, TheScaleStaysBetweenOneAndTwoToThe24th) {
  EXPECT_EQ(after_step({.scale = 1, .good_steps = 0}, false).scale, 1);
  EXPECT_EQ(after_step({.scale = 1 << 24, .good_steps = 1999}, true).scale, 1 << 24);
}

}  // namespace
}  // namespace trainer::optim
