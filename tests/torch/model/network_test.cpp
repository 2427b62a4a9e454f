// SPDX-License-Identifier: Apache-2.0

#include "trainer/torch/model/network.h"

#include <cmath>
#include <string>
#include <vector>

#include <ATen/Context.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
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

using config::Init;
using test::elements;
using test::find;
using test::identical;

constexpr Init kAllSchemes[] = {Init::kPytorch, Init::kKaiming, Init::kXavier, Init::kGpt2};

// Large enough for statistics: 160,000 weights in the second layer.
test::MlpRecipe large_options() {
  test::MlpRecipe options;
  options.num_features = 200;
  options.hidden_sizes = {400, 400, 400};
  options.num_outputs = 100;
  options.norm = config::Norm::kLayer;
  return options;
}

Network make_mlp(Init scheme, uint64_t seed, test::MlpRecipe options = large_options()) {
  options.init = scheme;
  return test::make_initialized(options, seed);
}

double deviation(const at::Tensor& tensor) { return tensor.std(false).item<double>(); }
double largest(const at::Tensor& tensor) { return tensor.abs().max().item<double>(); }

// Uniform numbers in [-bound, bound].
void expect_uniform(const at::Tensor& weight, double bound) {
  EXPECT_LE(largest(weight), bound * (1 + 1e-6));
  EXPECT_GT(largest(weight), 0.99 * bound);
  EXPECT_NEAR(weight.mean().item<double>(), 0, 0.01 * bound);
  EXPECT_NEAR(deviation(weight), bound / std::sqrt(3.0), 0.01 * bound);
}

// Normal numbers: of mean 0, and 4.6 % of them beyond two deviations.
void expect_normal(const at::Tensor& weight, double expected) {
  EXPECT_NEAR(weight.mean().item<double>(), 0, 0.015 * expected);
  EXPECT_NEAR(deviation(weight), expected, 0.015 * expected);
  EXPECT_NEAR(weight.abs().gt(2 * expected).to(at::kFloat).mean().item<double>(), 0.0455, 0.005);
}

TEST(InitTest, NtkHasTheVarianceOfTheInputsAndBiasesOfOne) {
  const Network network = make_mlp(Init::kNtk, 1);
  expect_normal(find(network.state(), "layers.1.weight"), 1 / std::sqrt(400.0));
  EXPECT_NEAR(deviation(find(network.state(), "layers.1.bias")), 1, 0.1);
}

TEST(InitTest, OutputsOnTheDataHaveTheDeviationOneAndBiasesAreWithinTheirRange) {
  test::MlpRecipe options = large_options();
  options.norm = config::Norm::kNone;
  options.hidden_sizes = {30, 20};
  options.init = Init::kData;
  at::manual_seed(3);
  const at::Tensor features = at::randn({500, options.num_features}).mul_(3).add_(1);
  const auto make = [&](uint64_t seed) {
    Network network = test::make_network(options);
    initialize(network, seed, {.features = features});
    return network;
  };
  const Network network = make(5);
  EXPECT_TRUE(identical(make(5).parameters().values, network.parameters().values));
  EXPECT_FALSE(identical(make(6).parameters().values, network.parameters().values));
  at::Tensor inputs = features;
  for (const char* layer : {"layers.0", "layers.1", "layers.2"}) {
    const at::Tensor weight = find(network.state(), std::string(layer) + ".weight").cpu();
    const at::Tensor bias = find(network.state(), std::string(layer) + ".bias").cpu();
    const at::Tensor outputs = at::linear(inputs, weight);
    EXPECT_TRUE(test::close(outputs.std(0, false), at::ones({weight.size(0)}), 1e-4));
    EXPECT_TRUE(bias.neg().le(outputs.amax(0)).all().item<bool>());
    EXPECT_TRUE(bias.neg().ge(outputs.amin(0)).all().item<bool>());
    EXPECT_GT(deviation(bias), 0.2);
    inputs = at::relu(outputs.add(bias));
  }
}

TEST(InitTest, AnOutputLayerOfZerosPredictsNothingAtFirst) {
  test::MlpRecipe options = large_options();
  options.zero_output = true;
  const Network network = make_mlp(Init::kNtk, 1, options);
  EXPECT_EQ(largest(find(network.state(), "layers.3.weight")), 0);
  EXPECT_EQ(largest(find(network.state(), "layers.3.bias")), 0);
  EXPECT_GT(largest(find(network.state(), "layers.2.weight")), 0);
}

TEST(InitTest, IsAPureFunctionOfTheSeed) {
  for (const Init scheme : kAllSchemes) {
    const at::Tensor first = make_mlp(scheme, 7).parameters().values;
    at::manual_seed(12345);
    EXPECT_TRUE(identical(make_mlp(scheme, 7).parameters().values, first));
    EXPECT_FALSE(identical(make_mlp(scheme, 8).parameters().values, first));
  }
}

TEST(InitTest, LeavesTheGlobalGeneratorAlone) {
  const at::Generator& generator = at::globalContext().defaultGenerator(c10::kCPU);
  const at::Tensor before = generator.get_state();
  make_mlp(Init::kPytorch, 7);
  EXPECT_TRUE(at::equal(generator.get_state(), before));
}

TEST(InitTest, NormsBeginAsTheIdentityAndBiasesAtZero) {
  for (const Init scheme : kAllSchemes) {
    const auto state = make_mlp(scheme, 1).state();
    EXPECT_EQ(elements(find(state, "norms.1.weight")), std::vector<float>(400, 1));
    EXPECT_EQ(elements(find(state, "norms.1.bias")), std::vector<float>(400, 0));
    if (scheme == Init::kPytorch) continue;  // its biases are random
    EXPECT_EQ(elements(find(state, "layers.1.bias")), std::vector<float>(400, 0));
    EXPECT_EQ(elements(find(state, "layers.3.bias")), std::vector<float>(100, 0));
  }
}

TEST(InitTest, PytorchIsUniformWithinTheRootOfTheInputs) {
  const auto state = make_mlp(Init::kPytorch, 1).state();
  expect_uniform(find(state, "layers.0.weight"), 1 / std::sqrt(200.0));
  expect_uniform(find(state, "layers.1.weight"), 1 / std::sqrt(400.0));
  const at::Tensor bias = find(state, "layers.0.bias");
  EXPECT_LE(largest(bias), 1 / std::sqrt(200.0));
  EXPECT_GT(largest(bias), 0.95 / std::sqrt(200.0));
}

TEST(InitTest, KaimingIsNormalWithTwoOverTheInputsAndOneInTheOutputLayer) {
  const auto state = make_mlp(Init::kKaiming, 1).state();
  expect_normal(find(state, "layers.0.weight"), std::sqrt(2 / 200.0));
  expect_normal(find(state, "layers.2.weight"), std::sqrt(2 / 400.0));
  expect_normal(find(state, "layers.3.weight"), std::sqrt(1 / 400.0));
}

TEST(InitTest, XavierIsUniformByInputsAndOutputs) {
  const auto state = make_mlp(Init::kXavier, 1).state();
  expect_uniform(find(state, "layers.0.weight"), std::sqrt(6 / 600.0));
  expect_uniform(find(state, "layers.3.weight"), std::sqrt(6 / 500.0));
}

TEST(InitTest, Gpt2IsNormalWithOneFiftieth) {
  const auto state = make_mlp(Init::kGpt2, 1).state();
  for (const char* name : {"layers.0.weight", "layers.1.weight", "layers.3.weight"}) {
    expect_normal(find(state, name), 0.02);
  }
}

TEST(InitTest, Gpt2DividesByTheRootOfTheNumberOfResidualLayersInThem) {
  test::MlpRecipe options = large_options();
  options.residual = true;
  const auto state = make_mlp(Init::kGpt2, 1, options).state();
  expect_normal(find(state, "layers.0.weight"), 0.02);  // it adds no input
  expect_normal(find(state, "layers.1.weight"), 0.02 / std::sqrt(2.0));
  expect_normal(find(state, "layers.2.weight"), 0.02 / std::sqrt(2.0));
  expect_normal(find(state, "layers.3.weight"), 0.02);  // the output layer
}

TEST(InitTest, PaddingStaysZero) {
  test::MlpRecipe options;
  options.num_features = 3;
  options.hidden_sizes = {3};
  options.num_outputs = 2;
  const FlatParameters flat = make_mlp(Init::kPytorch, 1, options).parameters();
  const auto sum = [](const at::Tensor& t) {
    return t.cpu().to(at::kDouble).abs().sum().item<double>();
  };
  double inside = 0;
  for (const at::Tensor& parameter : flat.parameters) inside += sum(parameter.detach());
  EXPECT_GT(flat.values.numel(), flat.num_parameters());
  EXPECT_DOUBLE_EQ(sum(flat.values), inside);
}

}  // namespace

}  // namespace trainer::model
