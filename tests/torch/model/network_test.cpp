// SPDX-License-Identifier: Apache-2.0
#include "trainer/torch/model/network.h"

#include <string>
#include <vector>

#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/relu.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "support/networks.h"
#include "support/tensors.h"
#include "support/test_device.h"

namespace trainer::model {
namespace {

using test::close;
using test::elements;
using test::find;
using test::identical;
using test::make_initialized;
using test::on_device;
using test::small_network;
using Texts = std::vector<std::string>;

at::Tensor some_features(int64_t rows = 6) {
  at::Tensor features = at::ones({rows, 5});
  for (int64_t i = 0; i < features.numel(); ++i) {
    features.view(-1)[i] = static_cast<double>(i * 7 % 11) / 5 - 1;
  }
  return on_device(features);
}

Texts names_and_shapes(const Network& mlp) {
  Texts texts;
  for (const NamedTensor& named : mlp.state()) {
    texts.push_back(fmt::format("{} [{}]", named.name, fmt::join(named.tensor.sizes(), ", ")));
  }
  return texts;
}

TEST(NetworkTest, StateHasTheNamesAndShapesOfPyTorch) {
  test::MlpRecipe options = small_network();
  options.hidden_sizes = {7, 4};
  EXPECT_EQ(names_and_shapes(make_initialized(options)),
            (Texts{"layers.0.weight [7, 5]", "layers.0.bias [7]", "layers.1.weight [4, 7]",
                   "layers.1.bias [4]", "layers.2.weight [3, 4]", "layers.2.bias [3]"}));
}

TEST(NetworkTest, BatchNormHasBuffersAfterTheParameters) {
  test::MlpRecipe options = small_network();
  options.hidden_sizes = {7};
  options.norm = config::Norm::kBatch;
  EXPECT_EQ(names_and_shapes(make_initialized(options)),
            (Texts{"layers.0.weight [7, 5]", "layers.0.bias [7]", "norms.0.weight [7]",
                   "norms.0.bias [7]", "layers.1.weight [3, 7]", "layers.1.bias [3]",
                   "norms.0.running_mean [7]", "norms.0.running_var [7]"}));
}

TEST(NetworkTest, LayerNormHasNoBuffers) {
  test::MlpRecipe options = small_network();
  options.hidden_sizes = {7};
  options.norm = config::Norm::kLayer;
  EXPECT_EQ(names_and_shapes(make_initialized(options)),
            (Texts{"layers.0.weight [7, 5]", "layers.0.bias [7]", "norms.0.weight [7]",
                   "norms.0.bias [7]", "layers.1.weight [3, 7]", "layers.1.bias [3]"}));
}

TEST(NetworkTest, OnlyWeightsOfLinearLayersAreDecayed) {
  test::MlpRecipe options = small_network();
  options.norm = config::Norm::kBatch;
  const Network mlp = make_initialized(options);
  for (const network::TensorSpec& spec : mlp.parameters().specs) {
    const bool is_linear_weight = spec.name.starts_with("layers.") && spec.name.ends_with("weight");
    EXPECT_EQ(spec.decay, is_linear_weight ? network::Decay::kYes : network::Decay::kNo)
        << spec.name;
  }
}

TEST(NetworkTest, WithoutHiddenLayersItIsLinear) {
  test::MlpRecipe options = small_network();
  options.hidden_sizes = {};
  Network mlp = make_initialized(options);
  const auto state = mlp.state();
  EXPECT_TRUE(identical(
      mlp.forward(some_features(), Mode::kInference),
      at::linear(some_features(), find(state, "layers.0.weight"), find(state, "layers.0.bias"))));
}

TEST(NetworkTest, ResidualLayersAddTheirInput) {
  test::MlpRecipe options = small_network();
  options.hidden_sizes = {4, 4, 4};
  options.residual = true;
  Network mlp = make_initialized(options);
  const auto state = mlp.state();
  const auto linear = [&](const at::Tensor& hidden, int layer) {
    return at::linear(hidden, find(state, fmt::format("layers.{}.weight", layer)),
                      find(state, fmt::format("layers.{}.bias", layer)));
  };
  at::Tensor hidden = at::relu(linear(some_features(), 0));  // other widths: nothing to add
  hidden = hidden.add(at::relu(linear(hidden, 1)));
  hidden = hidden.add(at::relu(linear(hidden, 2)));
  EXPECT_TRUE(close(mlp.forward(some_features(), Mode::kTraining), linear(hidden, 3)));
}

TEST(NetworkTest, DropoutWorksInTrainingOnly) {
  test::MlpRecipe options = small_network();
  Network without = make_initialized(options);
  options.dropout = 0.5;
  Network with = make_initialized(options);
  const at::Tensor expected = without.forward(some_features(), Mode::kInference);
  EXPECT_TRUE(identical(with.forward(some_features(), Mode::kInference), expected));
  EXPECT_FALSE(identical(with.forward(some_features(), Mode::kTraining), expected));
}

TEST(NetworkTest, DropoutKeepsTheMeanAndDropsItsPart) {
  test::MlpRecipe options = small_network();
  options.hidden_sizes = {4000};
  options.num_outputs = 4000;
  options.dropout = 0.25;
  Network mlp = test::make_network(options);
  // Every hidden unit is 1, and the output layer hands them on.
  parameter_view(mlp.parameters(), mlp.parameters().values, 1).fill_(1);
  parameter_view(mlp.parameters(), mlp.parameters().values, 2).fill_diagonal_(1);
  const at::Tensor outputs = mlp.forward(some_features(1), Mode::kTraining, {.seed = 1});
  EXPECT_NEAR(outputs.eq(0).to(at::kFloat).mean().item<double>(), 0.25, 0.03);
  EXPECT_NEAR(outputs.mean().item<double>(), 1.0, 0.04);
}

TEST(NetworkTest, BatchNormUpdatesItsStatisticsInTrainingOnly) {
  test::MlpRecipe options = small_network();
  options.norm = config::Norm::kBatch;
  Network mlp = make_initialized(options);
  EXPECT_EQ(elements(mlp.buffers()[0].tensor), std::vector<float>(4, 0));
  EXPECT_EQ(elements(mlp.buffers()[1].tensor), std::vector<float>(4, 1));
  const at::Tensor first = mlp.forward(some_features(), Mode::kInference);
  EXPECT_EQ(elements(mlp.buffers()[0].tensor), std::vector<float>(4, 0));
  EXPECT_EQ(elements(mlp.buffers()[1].tensor), std::vector<float>(4, 1));
  EXPECT_TRUE(identical(mlp.forward(some_features(), Mode::kInference), first));
  mlp.forward(some_features(), Mode::kTraining);
  EXPECT_NE(elements(mlp.buffers()[0].tensor), std::vector<float>(4, 0));
  EXPECT_NE(elements(mlp.buffers()[1].tensor), std::vector<float>(4, 1));
}

TEST(NetworkTest, InferenceTakesRowsByThemselves) {
  test::MlpRecipe options = small_network();
  options.norm = config::Norm::kBatch;
  Network mlp = make_initialized(options);
  const at::Tensor all = mlp.forward(some_features(), Mode::kInference);
  EXPECT_TRUE(
      close(mlp.forward(some_features().slice(0, 2, 3), Mode::kInference), all.slice(0, 2, 3)));
}

}  // namespace
}  // namespace trainer::model
