// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/model/loss.h"
#include "trainer/optim/optimizer.h"

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

test::MlpRecipe realmlp_options(const Json& c) {
  test::MlpRecipe options = test::small_network();
  options.activation = from_text<config::Activation>(c["activation"].get<std::string>()).value();
  options.parametric_activation = true;
  options.input_scale = true;
  options.periodic_features = {0, 1, 2, 3, 4};
  options.num_frequencies = realmlp_golden()["frequencies"];
  options.periodic_size = realmlp_golden()["size"];
  options.parametrization = config::Parametrization::kNtk;
  for (const auto& text : realmlp_golden()["lr_factors"]) {
    options.lr_factors.push_back(config::parse_lr_factor(text.get<std::string>()).value());
  }
  return options;
}

config::OptimizerConfig realmlp_optimizer() {
  config::OptimizerConfig optimizer;
  optimizer.weight_decay = realmlp_golden()["weight_decay"];
  optimizer.beta1 = realmlp_golden()["beta1"];
  optimizer.beta2 = realmlp_golden()["beta2"];
  optimizer.epsilon = realmlp_golden()["epsilon"];
  return optimizer;
}

class RealMlpGoldenTest : public testing::TestWithParam<std::size_t> {};

// With weights stored as they multiply; the golden values have those of the NTK parametrization.
TEST_P(RealMlpGoldenTest, OutputsGradientsAndFiveStepsAreThoseOfTheFormulas) {
  const Json& c = realmlp_golden()["cases"][GetParam()];
  SCOPED_TRACE(c["activation"]);
  Network network = test::make_network(realmlp_options(c));
  FlatParameters& flat = network.parameters();
  test::set_parameters(flat, realmlp_golden()["parameters"]);
  const at::Tensor features = golden_tensor(realmlp_golden()["features"]);
  const bool is_mse = c["loss"] == "mse";
  const LossOptions loss{.kind = is_mse ? config::Loss::kMse : config::Loss::kCrossEntropy,
                         .label_smoothing = is_mse ? 0.0 : 0.1};
  const at::Tensor targets = is_mse ? golden_tensor(realmlp_golden()["values"])
                                    : golden_tensor(realmlp_golden()["classes"]).to(at::kLong);
  const config::OptimizerConfig optimizer = realmlp_optimizer();
  optim::OptimizerState state = optim::make_state(optimizer, /*ema_decay=*/0, flat);
  for (std::size_t step = 0; step < c["mean_losses"].size(); ++step) {
    flat.gradients.zero_();
    const at::Tensor outputs = network.forward(features, Mode::kTraining);
    const at::Tensor mean = loss_sum(outputs, targets, loss).div(features.size(0));
    mean.backward();
    EXPECT_TRUE(close(mean, golden_tensor(c["mean_losses"][step]), 1e-6, 1e-4));
    if (step == 0) {
      EXPECT_TRUE(close(outputs, golden_tensor(c["outputs"]), 2e-6));
      for (std::size_t i = 0; i < flat.specs.size(); ++i) {
        EXPECT_TRUE(close(parameter_view(flat, flat.gradients, i),
                          golden_tensor(c["gradients"][flat.specs[i].name]), 2e-6, 1e-4))
            << flat.specs[i].name;
      }
    }
    optim::update(optimizer, realmlp_golden()["learning_rate"], flat, state);
  }
  for (std::size_t i = 0; i < flat.specs.size(); ++i) {
    EXPECT_TRUE(close(parameter_view(flat, flat.values, i),
                      golden_tensor(c["after"][flat.specs[i].name]), 1e-5, 1e-4))
        << flat.specs[i].name;
  }
}

INSTANTIATE_TEST_SUITE_P(EveryActivation, RealMlpGoldenTest,
                         testing::Range(std::size_t{0}, realmlp_golden()["cases"].size()));

}  // namespace
}  // namespace trainer::model
