// SPDX-License-Identifier: Apache-2.0
#include "trainer/apply/export_weights.h"

#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/apply/model.h"

#include "support/checkpoints.h"

namespace trainer::apply {
namespace {

TEST(ExportWeightsTest, AHalfIsTheNearestOneOrTheLargest) {
  EXPECT_EQ(to_half(1), 0x3C00);
  EXPECT_EQ(to_half(-2), 0xC000);
  EXPECT_EQ(to_half(0), 0);
  EXPECT_EQ(to_half(-0.0F), 0x8000);
  EXPECT_EQ(to_half(2049), 0x6800);  // half way between 2048 and 2050: to the even one
  EXPECT_EQ(to_half(2051), 0x6802);
  EXPECT_EQ(to_half(65504), 0x7BFF);
  EXPECT_EQ(to_half(-1e6F), 0xFBFF);
  EXPECT_EQ(to_half(std::ldexp(1.0F, -24)), 1);
  EXPECT_EQ(to_half(std::ldexp(1.0F, -26)), 0);
  EXPECT_EQ(to_half(std::ldexp(1023.0F, -24)), 0x03FF);
  EXPECT_EQ(to_half(std::ldexp(1023.75F, -24)), 0x0400);  // the smallest normal one
}

TEST(ExportWeightsTest, TheLargestNumberOfARowIs127) {
  const std::vector<float> values = {0.5F, -1, 0.25F, 0, 0, 0, 1e-40F, 3, -3};
  const Int8Rows rows = to_int8(values, 3);
  EXPECT_EQ(rows.values, (std::vector<int8_t>{64, -127, 32, 0, 0, 0, 0, 127, -127}));
  EXPECT_EQ(rows.scales, (std::vector<float>{1.0F / 127, 1, 3.0F / 127}));
}

TEST(ExportWeightsTest, OnlyMatricesChange) {
  Model model;
  model.members.resize(1);
  model.members[0].weights = {{"layers.0.weight", test::float_data({1, 2}, {1, 0.3F})},
                              {"layers.0.bias", test::float_data({2}, {0.3F, 0.7F})},
                              {"embedding.frequencies", test::float_data({1, 2}, {0.3F, 0.7F})}};
  const Model half = with_stored_weights(model, WeightType::kFloat16);
  EXPECT_EQ(weight_values(half.members[0], "layers.0.weight")[1], 0.300048828125F);
  EXPECT_EQ(weight_values(half.members[0], "layers.0.bias")[0], 0.3F);
  EXPECT_EQ(weight_values(half.members[0], "embedding.frequencies")[0], 0.3F);
  const Model int8 = with_stored_weights(model, WeightType::kInt8);
  EXPECT_EQ(weight_values(int8.members[0], "layers.0.weight")[1], 38.0F / 127);
  EXPECT_EQ(weight_values(model.members[0], "layers.0.weight")[1], 0.3F);
}

}  // namespace
}  // namespace trainer::apply
