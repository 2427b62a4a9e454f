// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <gtest/gtest.h>

#include "trainer/base/text/json.h"
#include "trainer/torch/optim/optimizer.h"

#include "support/golden.h"
#include "support/networks.h"
#include "support/tensors.h"

namespace trainer::optim {
namespace {

using config::OptimizerConfig;
using test::close;
using test::golden_tensor;

const Json& golden() {
  static const Json values = test::read_golden("optimizers.json");
  return values;
}

OptimizerConfig make_options(const Json& c) {
  OptimizerConfig options;
  options.name = from_text<config::OptimizerName>(c["optimizer"].get<std::string>()).value();
  options.weight_decay = c["weight_decay"];
  options.decay_bias_and_norm = c["decay_bias_and_norm"];
  options.momentum = c.value("momentum", options.momentum);
  options.nesterov = c.value("nesterov", options.nesterov);
  options.beta1 = c.value("beta1", options.beta1);
  options.beta2 = c.value("beta2", options.beta2);
  options.epsilon = c.value("epsilon", options.epsilon);
  return options;
}

class OptimizerGoldenTest : public testing::TestWithParam<std::size_t> {};

TEST_P(OptimizerGoldenTest, FiveClippedUpdatesAreThoseOfPyTorch) {
  const Json& c = golden()["cases"][GetParam()];
  SCOPED_TRACE(c["name"]);
  test::MlpRecipe mlp = test::small_network();
  mlp.norm = config::Norm::kLayer;
  for (const std::string& text : c.value("lr_factors", std::vector<std::string>())) {
    mlp.lr_factors.push_back(config::parse_lr_factor(text).value());
  }
  model::Network model = test::make_network(mlp);
  model::FlatParameters& flat = model.parameters();
  test::set_parameters(flat, golden()["parameters"]);
  const OptimizerConfig options = make_options(c);
  OptimizerState state = make_state(options, /*ema_decay=*/0, flat);

  for (std::size_t step = 0; step < 5; ++step) {
    for (std::size_t i = 0; i < flat.specs.size(); ++i) {
      const Json& gradient = golden()["gradients"][step][flat.specs[i].name];
      parameter_view(flat, flat.gradients, i).copy_(golden_tensor(gradient));
    }
    const at::Tensor norm = clip_gradients(flat, golden()["clip_norm"]);
    EXPECT_TRUE(close(norm, golden_tensor(golden()["grad_norms"][step])));
    update(options, c["learning_rate"], flat, state);
    if (step == 0) test::expect_golden(flat, flat.values, c["after_step_1"]);
  }
  test::expect_golden(flat, flat.values, c["after_step_5"]);
  EXPECT_EQ(state.step, 5);
}

INSTANTIATE_TEST_SUITE_P(EveryOptimizer, OptimizerGoldenTest,
                         testing::Range(std::size_t{0}, golden()["cases"].size()),
                         [](const auto& test) -> std::string {
                           return golden()["cases"][test.param]["name"];
                         });

}  // namespace
}  // namespace trainer::optim
