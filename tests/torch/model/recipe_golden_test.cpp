// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/torch/model/gradient.h"
#include "trainer/torch/optim/optimizer.h"

#include "support/golden.h"
#include "support/networks.h"

namespace trainer::model {
namespace {

using test::close;
using test::golden_tensor;

const Json& realmlp_golden() {
  static const Json values = test::read_golden("realmlp.json");
  return values;
}

const Json& tabm_golden() {
  static const Json values = test::read_golden("tabm.json");
  return values;
}

test::MlpRecipe options_of(const Json& golden, const Json& c) {
  test::MlpRecipe options = test::small_network();
  options.activation = from_text<config::Activation>(c["activation"].get<std::string>()).value();
  for (const auto& text : golden["lr_factors"]) {
    options.lr_factors.push_back(config::parse_lr_factor(text.get<std::string>()).value());
  }
  return options;
}

config::OptimizerConfig optimizer_of(const Json& golden) {
  config::OptimizerConfig optimizer;
  optimizer.weight_decay = golden["weight_decay"];
  optimizer.beta1 = golden["beta1"];
  optimizer.beta2 = golden["beta2"];
  optimizer.epsilon = golden["epsilon"];
  return optimizer;
}

void expect_parameters(const FlatParameters& flat, const at::Tensor& actual, const Json& expected,
                       double absolute) {
  for (std::size_t i = 0; i < flat.specs.size(); ++i) {
    EXPECT_TRUE(close(parameter_view(flat, actual, i), golden_tensor(expected[flat.specs[i].name]),
                      absolute, 1e-4))
        << flat.specs[i].name;
  }
}

// Outputs and gradient of the first step, the losses of all, and what they lead to.
void expect_golden_steps(const Json& golden, const Json& c, Network& network) {
  FlatParameters& flat = network.parameters();
  test::set_parameters(flat, c["parameters"]);
  const at::Tensor features = golden_tensor(golden["features"]);
  const bool is_mse = c["loss"] == "mse";
  const Objective objective{
      .features = features,
      .targets =
          is_mse ? golden_tensor(golden["values"]) : golden_tensor(golden["classes"]).to(at::kLong),
      .loss = {.kind = is_mse ? config::Loss::kMse : config::Loss::kCrossEntropy,
               .label_smoothing = is_mse ? 0.0 : golden["label_smoothing"].get<double>()},
      .scale = test::scale_of_mean(features),
      .noise = {}};
  const config::OptimizerConfig optimizer = optimizer_of(golden);
  optim::OptimizerState state = optim::make_state(optimizer, /*ema_decay=*/0, flat);
  for (std::size_t step = 0; step < c["mean_losses"].size(); ++step) {
    const BatchResult result = compute_gradient(network, objective);
    const at::Tensor mean = result.loss_sum.div(features.size(0));
    EXPECT_TRUE(close(mean, golden_tensor(c["mean_losses"][step]), 1e-6, 1e-4));
    if (step == 0) {
      EXPECT_TRUE(close(result.outputs, golden_tensor(c["outputs"]), 2e-6));
      expect_parameters(flat, flat.gradients, c["gradients"], 2e-6);
    }
    optim::update(optimizer, golden["learning_rate"], flat, state);
  }
  expect_parameters(flat, flat.values, c["after"], 1e-5);
}

class RealMlpGoldenTest : public testing::TestWithParam<std::size_t> {};

// With weights stored as they multiply; the golden values have those of the NTK parametrization.
TEST_P(RealMlpGoldenTest, OutputsGradientsAndFiveStepsAreThoseOfTheFormulas) {
  const Json& golden = realmlp_golden();
  const Json& c = golden["cases"][GetParam()];
  SCOPED_TRACE(c["activation"]);
  test::MlpRecipe options = options_of(golden, c);
  options.parametric_activation = true;
  options.input_scale = true;
  options.numeric_embedding = config::NumericEmbedding::kPeriodic;
  options.embedded_features = {0, 1, 2, 3, 4};
  options.num_frequencies = golden["frequencies"];
  options.embedding_size = golden["size"];
  options.parametrization = config::Parametrization::kNtk;
  Network network = test::make_network(options);
  expect_golden_steps(golden, c, network);
}

INSTANTIATE_TEST_SUITE_P(EveryActivation, RealMlpGoldenTest,
                         testing::Range(std::size_t{0}, realmlp_golden()["cases"].size()));

class TabMGoldenTest : public testing::TestWithParam<std::size_t> {};

TEST_P(TabMGoldenTest, OutputsGradientsAndFiveStepsAreThoseOfTheFormulas) {
  const Json& golden = tabm_golden();
  const Json& c = golden["cases"][GetParam()];
  SCOPED_TRACE(c["loss"]);
  test::MlpRecipe options = options_of(golden, c);
  options.num_members = golden["members"];
  options.mean = c["loss"] == "mse" ? network::Mean::kOfNumbers : network::Mean::kOfProbabilities;
  if (c["embedding_size"] > 0) {
    options.numeric_embedding = config::NumericEmbedding::kPiecewiseLinear;
    options.embedded_features = {0, 1, 2, 3, 4};
    options.embedding_size = c["embedding_size"];
    options.num_bins = 4;
  }
  Network network = test::make_network(options);
  for (const NamedTensor& buffer : network.buffers()) {
    if (buffer.name == "numeric_embeddings.edges") {
      buffer.tensor.copy_(golden_tensor(golden["edges"]));
    }
  }
  expect_golden_steps(golden, c, network);
  const at::Tensor outputs = network.forward(golden_tensor(golden["features"]), Mode::kInference);
  EXPECT_TRUE(close(outputs, golden_tensor(c["mean_outputs"]), 1e-5, 1e-4));
}

INSTANTIATE_TEST_SUITE_P(EveryTask, TabMGoldenTest,
                         testing::Range(std::size_t{0}, tabm_golden()["cases"].size()));

}  // namespace
}  // namespace trainer::model
