// SPDX-License-Identifier: Apache-2.0
#include "trainer/nn/schedule/loss_scale.h"

#include <gtest/gtest.h>

namespace trainer::schedule {
namespace {

TEST(LossScaleTest, AnOverflowHalvesTheScaleAndBeginsToCountAnew) {
  const LossScaleState state =
      after_step({.scale = 1024, .good_steps = 7}, GradientStatus::kNotFinite);
  EXPECT_EQ(state.scale, 512);
  EXPECT_EQ(state.good_steps, 0);
}

TEST(LossScaleTest, TheScaleIsDoubledAfterTwoThousandGoodSteps) {
  LossScaleState state = kInitialLossScale;
  for (int i = 0; i < 1999; ++i) state = after_step(state, GradientStatus::kFinite);
  EXPECT_EQ(state.scale, 65536);
  EXPECT_EQ(state.good_steps, 1999);
  state = after_step(state, GradientStatus::kFinite);
  EXPECT_EQ(state.scale, 131072);
  EXPECT_EQ(state.good_steps, 0);
}

TEST(LossScaleTest, TheScaleStaysBetweenOneAndTwoToThe24th) {
  EXPECT_EQ(after_step({.scale = 1, .good_steps = 0}, GradientStatus::kNotFinite).scale, 1);
  EXPECT_EQ(after_step({.scale = 1 << 24, .good_steps = 1999}, GradientStatus::kFinite).scale,
            1 << 24);
}

}  // namespace
}  // namespace trainer::schedule
