// SPDX-License-Identifier: Apache-2.0
#include "trainer/torch/optim/optimizer.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <ATen/ops/full_like.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

#include "support/tensors.h"
#include "support/test_device.h"

namespace trainer::optim {
namespace {

using config::OptimizerConfig;
using config::OptimizerName;
using model::FlatParameters;
using test::close;
using test::elements;
using test::identical;

// Three weights and two biases, each padded to 16 elements.
FlatParameters make_parameters(float value, float gradient) {
  FlatParameters flat = model::make_flat_parameters(
      {{"layers.0.weight", {3}, {}, network::Decay::kYes}, {"layers.0.bias", {2}}},
      /*freeze=*/{}, test::test_device());
  for (std::size_t i = 0; i < flat.specs.size(); ++i) {
    parameter_view(flat, flat.values, i).fill_(value);
    parameter_view(flat, flat.gradients, i).fill_(gradient);
  }
  return flat;
}

std::vector<std::string> moment_names(const OptimizerState& state) {
  std::vector<std::string> names;
  for (const model::NamedTensor& moment : state.moments) names.push_back(moment.name);
  return names;
}

OptimizerConfig make_options(OptimizerName name) {
  OptimizerConfig options;
  options.name = name;
  return options;
}

TEST(OptimizerTest, TheFirstStateIsZeroAndHasPyTorchsNames) {
  const FlatParameters flat = make_parameters(1, 1);
  for (const OptimizerName name :
       {OptimizerName::kSgd, OptimizerName::kAdam, OptimizerName::kAdamw}) {
    const OptimizerState state = make_state(make_options(name), /*ema_decay=*/0, flat);
    EXPECT_EQ(state.step, 0);
    EXPECT_EQ(moment_names(state), name == OptimizerName::kSgd
                                       ? std::vector<std::string>{"momentum_buffer"}
                                       : (std::vector<std::string>{"exp_avg", "exp_avg_sq"}));
    for (const model::NamedTensor& moment : state.moments) {
      EXPECT_TRUE(identical(moment.tensor, at::zeros_like(flat.values)));
    }
  }
}

TEST(OptimizerTest, SgdWithoutMomentumRemembersNothing) {
  OptimizerConfig options = make_options(OptimizerName::kSgd);
  options.momentum = 0;
  EXPECT_TRUE(make_state(options, /*ema_decay=*/0, make_parameters(1, 1)).moments.empty());
}

TEST(OptimizerTest, PaddingStaysZero) {
  for (const OptimizerName name :
       {OptimizerName::kSgd, OptimizerName::kAdam, OptimizerName::kAdamw}) {
    OptimizerConfig options = make_options(name);
    options.weight_decay = 0.5;
    options.decay_bias_and_norm = true;
    FlatParameters flat = make_parameters(1, 1);
    OptimizerState state = make_state(options, /*ema_decay=*/0, flat);
    for (int step = 0; step < 3; ++step) {
      clip_gradients(flat, 0.1);
      update(options, 0.1, flat, state);
    }
    for (const at::Tensor& buffer : {flat.values, flat.gradients, state.moments[0].tensor}) {
      EXPECT_EQ(elements(buffer.slice(0, 3, 16)), std::vector<float>(13));
      EXPECT_EQ(elements(buffer.slice(0, 18, 32)), std::vector<float>(14));
    }
  }
}

TEST(OptimizerTest, DecayIsForWeightsUnlessAskedForAll) {
  OptimizerConfig options = make_options(OptimizerName::kAdamw);
  options.weight_decay = 0.5;
  FlatParameters flat = make_parameters(1, 0);
  OptimizerState state = make_state(options, /*ema_decay=*/0, flat);
  update(options, 0.5, flat, state);
  EXPECT_EQ(elements(flat.parameters[0]), std::vector<float>(3, 0.75F));
  EXPECT_EQ(elements(flat.parameters[1]), std::vector<float>(2, 1));
  options.decay_bias_and_norm = true;
  update(options, 0.5, flat, state);
  EXPECT_EQ(elements(flat.parameters[0]), std::vector<float>(3, 0.5625F));
  EXPECT_EQ(elements(flat.parameters[1]), std::vector<float>(2, 0.75F));
}

TEST(ClipTest, LargerGradientsAreScaledDownToTheLimit) {
  FlatParameters flat = make_parameters(0, 2);
  const at::Tensor norm = clip_gradients(flat, 1);
  EXPECT_EQ(norm.dim(), 0);
  EXPECT_FLOAT_EQ(norm.item<float>(), 2 * std::sqrt(5.0F));
  EXPECT_TRUE(close(flat.gradients.norm(), at::full_like(norm, 1)));
}

TEST(ClipTest, SmallerGradientsStayAsTheyAre) {
  FlatParameters flat = make_parameters(0, 0.1F);
  const at::Tensor before = flat.gradients.clone();
  EXPECT_FLOAT_EQ(clip_gradients(flat, 1).item<float>(), 0.1F * std::sqrt(5.0F));
  EXPECT_TRUE(identical(flat.gradients, before));
}

TEST(ClipTest, ZeroNeverScales) {
  FlatParameters flat = make_parameters(0, 100);
  const at::Tensor before = flat.gradients.clone();
  EXPECT_FLOAT_EQ(clip_gradients(flat, 0).item<float>(), 100 * std::sqrt(5.0F));
  EXPECT_TRUE(identical(flat.gradients, before));
}

TEST(ClipTest, AZeroGradientStaysZero) {
  FlatParameters flat = make_parameters(0, 0);
  EXPECT_EQ(clip_gradients(flat, 1).item<float>(), 0);
  EXPECT_TRUE(identical(flat.gradients, at::zeros_like(flat.gradients)));
}

TEST(ClipTest, AnInfiniteGradientHasAnInfiniteNorm) {
  FlatParameters flat = make_parameters(0, std::numeric_limits<float>::infinity());
  EXPECT_EQ(clip_gradients(flat, 1).item<float>(), std::numeric_limits<float>::infinity());
}

}  // namespace
}  // namespace trainer::optim
