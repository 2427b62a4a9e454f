// SPDX-License-Identifier: Apache-2.0
#include "trainer/torch/model/parameters.h"

#include <cstdint>
#include <vector>

#include <ATen/ops/arange.h>
#include <ATen/ops/full_like.h>
#include <gtest/gtest.h>

#include "support/tensors.h"
#include "support/test_device.h"

namespace trainer::model {
namespace {

using test::elements;
using test::identical;

FlatParameters make_three() {
  return make_flat_parameters({{"layers.0.weight", {4, 5}, {}, network::Decay::kYes},
                               {"layers.0.bias", {4}},
                               {"layers.1.weight", {16}, {}, network::Decay::kYes}},
                              /*freeze=*/{}, test::test_device());
}

TEST(ParametersTest, DecayedOnesComeFirstEachAtAMultipleOf64Bytes) {
  const FlatParameters flat = make_three();
  EXPECT_EQ(flat.offsets, (std::vector<int64_t>{0, 48, 32}));
  ASSERT_EQ(flat.groups.size(), 2U);
  EXPECT_EQ(flat.groups[0].size(), 48);
  EXPECT_EQ(flat.groups[1].end, flat.num_trained);
  EXPECT_EQ(flat.values.numel(), 64);
  EXPECT_EQ(flat.gradients.numel(), 64);
  EXPECT_EQ(flat.num_parameters(), 20 + 4 + 16);
  for (const at::Tensor& parameter : flat.parameters) {
    const auto address = reinterpret_cast<std::uintptr_t>(parameter.data_ptr());
    EXPECT_EQ(address % 64, 0U);
  }
}

TEST(ParametersTest, BeginAtZero) {
  const FlatParameters flat = make_three();
  EXPECT_EQ(elements(flat.values), std::vector<float>(64));
  EXPECT_EQ(elements(flat.gradients), std::vector<float>(64));
}

TEST(ParametersTest, AreLeavesInTheOrderOfTheirSpecsWithTheirShapes) {
  const FlatParameters flat = make_three();
  ASSERT_EQ(flat.parameters.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(flat.parameters[i].sizes(), flat.specs[i].shape);
    EXPECT_TRUE(flat.parameters[i].is_leaf());
    EXPECT_TRUE(flat.parameters[i].requires_grad());
  }
  EXPECT_FALSE(flat.values.requires_grad());
}

TEST(ParametersTest, AreViewsOfTheBuffer) {
  FlatParameters flat = make_three();
  flat.values.copy_(at::arange(64, at::kFloat));
  EXPECT_EQ(elements(flat.parameters[1]), (std::vector<float>{48, 49, 50, 51}));
  EXPECT_EQ(elements(flat.parameters[0][1]), (std::vector<float>{5, 6, 7, 8, 9}));
  EXPECT_EQ(flat.parameters[2].data_ptr(), parameter_view(flat, flat.values, 2).data_ptr());
  parameter_view(flat, flat.values, 1).fill_(7);
  EXPECT_EQ(elements(flat.parameters[1]), (std::vector<float>{7, 7, 7, 7}));
}

TEST(ParametersTest, GradientsAreCollectedInTheBuffer) {
  FlatParameters flat = make_three();
  const void* memory = flat.gradients.data_ptr();
  flat.gradients.fill_(5);
  for (const Accumulate accumulate : {Accumulate::kNo, Accumulate::kYes}) {
    flat.parameters[0].sum().mul(3).add(flat.parameters[1].sum()).backward();
    collect_gradients(flat, accumulate);
    const float times = accumulate == Accumulate::kNo ? 1 : 2;
    const at::Tensor weights = parameter_view(flat, flat.gradients, 0);
    EXPECT_TRUE(identical(weights, at::full_like(weights, 3 * times)));
    const at::Tensor biases = parameter_view(flat, flat.gradients, 1);
    EXPECT_TRUE(identical(biases, at::full_like(biases, times)));
    const at::Tensor unused = parameter_view(flat, flat.gradients, 2);
    EXPECT_TRUE(identical(unused, at::full_like(unused, 0)));
  }
  EXPECT_EQ(flat.gradients.data_ptr(), memory);
  EXPECT_EQ(elements(flat.gradients.slice(0, 20, 32)), std::vector<float>(12));  // padding
}

TEST(ParametersTest, ForgottenGradientsAreNotAddedToTheNextOnes) {
  FlatParameters flat = make_three();
  flat.parameters[1].sum().backward();
  forget_gradients(flat);
  flat.parameters[1].sum().backward();
  collect_gradients(flat, Accumulate::kNo);
  EXPECT_EQ(elements(parameter_view(flat, flat.gradients, 1)), (std::vector<float>{1, 1, 1, 1}));
}

}  // namespace
}  // namespace trainer::model
