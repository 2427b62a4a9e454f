// SPDX-License-Identifier: Apache-2.0
// A model whose last features are rows of embeddings.
#include <string>
#include <utility>
#include <vector>

#include <ATen/ops/arange.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "trainer/base/text/json.h"
#include "trainer/torch/model/gradient.h"
#include "trainer/train/step.h"

#include "support/golden.h"
#include "support/networks.h"
#include "support/tensors.h"
#include "support/test_device.h"

namespace trainer::model {
namespace {

using test::close;
using test::golden_tensor;
using test::identical;
using test::on_device;

const Json& embedding_golden() {
  static const Json values = test::read_golden("embeddings.json");
  return values;
}

test::MlpRecipe golden_options(const Json& c) {
  test::MlpRecipe options = test::small_network();
  options.activation = from_text<config::Activation>(c["activation"].get<std::string>()).value();
  options.norm = c["norm"] == "none" ? config::Norm::kNone : config::Norm::kLayer;
  options.residual = c["residual"];
  for (const Json& table : embedding_golden()["tables"])
    options.embeddings.push_back({table[0], table[1]});
  return options;
}

class EmbeddingGoldenTest : public testing::TestWithParam<std::size_t> {
 protected:
  EmbeddingGoldenTest()
      : c_(embedding_golden()["cases"][GetParam()]),
        mlp_(test::make_network(golden_options(c_))),
        features_(golden_tensor(embedding_golden()["features"])),
        classes_(golden_tensor(embedding_golden()["classes"]).to(at::kLong)) {
    test::set_parameters(mlp_.parameters(), embedding_golden()["parameters"]);
  }

  void expect_gradients() {
    test::expect_golden(mlp_.parameters(), mlp_.parameters().gradients, c_["gradients"]);
  }

  const Json& c_;
  Network mlp_;
  at::Tensor features_;
  at::Tensor classes_;
};

INSTANTIATE_TEST_SUITE_P(Cases, EmbeddingGoldenTest,
                         testing::Range(std::size_t{0}, embedding_golden()["cases"].size()));

TEST_P(EmbeddingGoldenTest, TensorsGiveWhatPyTorchDoes) {
  const at::Tensor outputs = compute_gradient(mlp_, {.features = features_,
                                                     .targets = classes_,
                                                     .loss = {},
                                                     .scale = test::scale_of_mean(features_),
                                                     .noise = {}})
                                 .outputs;
  EXPECT_TRUE(close(outputs, golden_tensor(c_["outputs"])));
  expect_gradients();
}

TEST_P(EmbeddingGoldenTest, KernelsGiveWhatPyTorchDoes) {
  const config::OptimizerConfig optimizer;
  optim::OptimizerState state = optim::make_state(optimizer, /*ema_decay=*/0, mlp_.parameters());
  const train::StepContext context{
      .model = mlp_, .optimizer_state = state, .optimizer = optimizer, .loss = {}, .clip_norm = 0};
  const train::ResidentData data{features_, classes_, at::zeros({5}), at::ones({5})};
  const at::Tensor order = at::arange(6, at::kLong);
  const auto step = train::make_fused_step(context, 6, 2);
  const train::StepStats stats = step->run({data, order, 0, 6, 6}, {.learning_rate = 0});
  EXPECT_NEAR(stats.loss_sum / 6, c_["mean_loss"].get<float>(), 1e-6);
  expect_gradients();
  // The same rows in batches that add up.
  step->run({data, order, 0, 6, 4}, {.learning_rate = 0});
  expect_gradients();
}

test::MlpRecipe embedding_network() {
  test::MlpRecipe options;
  options.num_features = 4;
  options.num_outputs = 3;
  options.hidden_sizes = {8, 8};
  options.activation = config::Activation::kTanh;
  options.embeddings = {{6, 3}, {5, 2}};
  return options;
}

/// Features of 10 rows: two numbers, and rows [0, 4) and [0, 5) of the tables.
at::Tensor features_with_ids() {
  at::Tensor features = on_device(at::arange(40, at::kFloat).sin_().view({10, 4}));
  features.select(1, 2).copy_(at::arange(10).remainder_(4));
  features.select(1, 3).copy_(at::arange(10).mul_(3).remainder_(5));
  return features;
}

at::Tensor some_classes() { return on_device(at::arange(10, at::kLong).remainder_(3)); }

at::Tensor gradient_of(const test::MlpRecipe& options) {
  Network mlp = test::make_initialized(options);
  const at::Tensor features = features_with_ids();
  const at::Tensor classes = some_classes();
  compute_gradient(mlp, {.features = features, .targets = classes, .loss = {}, .noise = {}});
  return mlp.parameters().gradients.clone();
}

TEST(EmbeddingTest, TablesComeFirstInTheStateAndAreNotDecayed) {
  const Network mlp = test::make_initialized(embedding_network());
  std::vector<std::string> texts;
  for (const NamedTensor& named : mlp.state()) {
    texts.push_back(fmt::format("{} [{}]", named.name, fmt::join(named.tensor.sizes(), ", ")));
  }
  EXPECT_EQ(texts, (std::vector<std::string>{
                       "embeddings.0.weight [6, 3]", "embeddings.1.weight [5, 2]",
                       "layers.0.weight [8, 7]", "layers.0.bias [8]", "layers.1.weight [8, 8]",
                       "layers.1.bias [8]", "layers.2.weight [3, 8]", "layers.2.bias [3]"}));
  EXPECT_EQ(mlp.parameters().specs[0].decay, network::Decay::kNo);
  EXPECT_EQ(mlp.parameters().specs[2].decay, network::Decay::kYes);
}

TEST(EmbeddingTest, FeaturesAreReplacedByTheRowsTheyName) {
  test::MlpRecipe options = embedding_network();
  Network mlp = test::make_initialized(options);
  const auto state = mlp.state();
  test::MlpRecipe plain = options;
  plain.embeddings = {};
  plain.num_features = 7;
  const Network other = test::make_network(plain);
  for (const NamedTensor& named : other.state()) named.tensor.copy_(test::find(state, named.name));
  const at::Tensor features = features_with_ids();
  at::Tensor looked_up = on_device(at::zeros({10, 7}));
  for (int64_t row = 0; row < 10; ++row) {
    looked_up.select(0, row).narrow(0, 0, 2).copy_(features.select(0, row).narrow(0, 0, 2));
    looked_up.select(0, row).narrow(0, 2, 3).copy_(
        test::find(state, "embeddings.0.weight").select(0, row % 4));
    looked_up.select(0, row).narrow(0, 5, 2).copy_(
        test::find(state, "embeddings.1.weight").select(0, row * 3 % 5));
  }
  EXPECT_TRUE(identical(mlp.forward(features, Mode::kInference),
                        other.forward(looked_up, Mode::kInference)));
}

// (loss(w + h) - loss(w - h)) / 2h for each element of the tables.
TEST(EmbeddingTest, GradientsAreTheDifferencesOfLosses) {
  constexpr double kStep = 1e-2;
  Network mlp = test::make_initialized(embedding_network());
  const at::Tensor gradients = gradient_of(embedding_network());
  const FlatParameters& flat = mlp.parameters();
  const auto loss = [&] {
    return loss_sum(mlp.forward(features_with_ids(), Mode::kTraining), some_classes(), {})
        .item<double>();
  };
  for (const std::size_t table : {0U, 1U}) {
    const at::Tensor values = parameter_view(flat, flat.values, table).view(-1);
    const at::Tensor expected = parameter_view(flat, gradients, table).view(-1);
    for (int64_t i = 0; i < values.size(0); ++i) {
      const float value = values[i].item<float>();
      values[i] = value + kStep;
      const double above = loss();
      values[i] = value - kStep;
      const double below = loss();
      values[i] = value;
      EXPECT_NEAR((above - below) / (2 * kStep), expected[i].item<double>(), 2e-3) << i;
    }
  }
}

TEST(EmbeddingTest, RowsThatNoSampleNamesHaveNoGradient) {
  const at::Tensor gradients = gradient_of(embedding_network());
  const at::Tensor table =
      gradients.narrow(0, test::make_initialized(embedding_network()).parameters().offsets[0], 18);
  EXPECT_FALSE(identical(table.narrow(0, 0, 12), at::zeros({12})));
  EXPECT_TRUE(identical(table.narrow(0, 12, 6), at::zeros({6})));
}

TEST(EmbeddingTest, CheckpointingAndFrozenTablesLeaveTheGradientsOfTheOthers) {
  test::MlpRecipe options = embedding_network();
  options.hidden_sizes = std::vector<int64_t>(9, 8);
  options.dropout = 0.25;
  const at::Tensor whole = gradient_of(options);
  options.activation_checkpointing = true;
  EXPECT_TRUE(identical(gradient_of(options), whole));
  options.freeze = {"embeddings.0.*", "layers.0.*"};
  const Network frozen = test::make_initialized(options);
  const at::Tensor some = gradient_of(options);
  options.freeze = {};
  const Network free = test::make_initialized(options);
  const auto part = [](const Network& mlp, const at::Tensor& gradients, std::size_t i) {
    return parameter_view(mlp.parameters(), gradients, i);
  };
  EXPECT_TRUE(identical(part(frozen, some, 0), at::zeros({6, 3})));
  EXPECT_TRUE(identical(part(frozen, some, 1), part(free, whole, 1)));
  EXPECT_TRUE(identical(part(frozen, some, 2), at::zeros({8, 7})));
  EXPECT_TRUE(identical(part(frozen, some, 4), part(free, whole, 4)));
}

TEST(EmbeddingTest, GradientsInBf16AreNearlyThoseInFp32) {
  test::MlpRecipe options = embedding_network();
  options.norm = config::Norm::kLayer;
  const at::Tensor exact = gradient_of(options);
  options.precision = config::Precision::kBf16;
  const at::Tensor low = gradient_of(options);
  const double distance = at::linalg_vector_norm(low.sub(exact), 2).item<double>();
  EXPECT_GT(distance, 0);
  EXPECT_LT(distance, 0.03 * at::linalg_vector_norm(exact, 2).item<double>());
}

TEST(EmbeddingTest, RowsBeginSmallAndTheLastWithZeros) {
  test::MlpRecipe options = embedding_network();
  options.embeddings = {{401, 50}, {5, 2}};
  for (const auto& [scheme, deviation] :
       std::vector<std::pair<config::Init, double>>{{config::Init::kPytorch, 0.1},
                                                    {config::Init::kKaiming, 0.1},
                                                    {config::Init::kGpt2, 0.02}}) {
    options.init = scheme;
    const Network mlp = test::make_initialized(options, 3);
    const at::Tensor table = test::find(mlp.state(), "embeddings.0.weight");
    EXPECT_NEAR(table.narrow(0, 0, 400).std().item<double>(), deviation, 0.02 * deviation);
    EXPECT_NEAR(table.narrow(0, 0, 400).mean().item<double>(), 0, 0.02 * deviation);
    EXPECT_TRUE(identical(table.select(0, 400), at::zeros({50})));
    EXPECT_GT(test::find(mlp.state(), "layers.0.weight").std().item<double>(), 0);
  }
}

}  // namespace
}  // namespace trainer::model
