// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/step.h"

#include <cmath>
#include <limits>
#include <utility>

#include <ATen/ops/arange.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

#include "support/golden.h"
#include "support/networks.h"
#include "support/sessions.h"
#include "support/tensors.h"
#include "support/test_device.h"

namespace trainer::train {
namespace {

using config::StepKind;
using test::close;
using test::golden_tensor;
using test::identical;
using test::on_device;

/// What every kind of step has to do.
class StepTest : public testing::TestWithParam<StepKind> {
 protected:
  static config::Config of_this_kind(config::Config config) {
    config.training.step = GetParam();
    return config;
  }
};

INSTANTIATE_TEST_SUITE_P(Kinds, StepTest, testing::ValuesIn(test::step_kinds()),
                         [](const auto& kind) {
                           return kind.param == StepKind::kFused ? "Fused" : "Autograd";
                         });

TEST_P(StepTest, AShortTrainingIsThatOfPyTorch) {
  const auto golden = test::read_golden("training.json");
  test::MlpRecipe options = test::small_network();
  options.activation = config::Activation::kGelu;
  options.norm = config::Norm::kLayer;
  options.residual = true;
  model::Network model = test::make_network(options);
  test::set_parameters(model.parameters(), golden["parameters"]);
  config::OptimizerConfig optimizer;
  optimizer.weight_decay = golden["weight_decay"];
  optimizer.beta2 = golden["beta2"];
  optim::OptimizerState state = optim::make_state(optimizer, /*ema_decay=*/0, model.parameters());
  const StepContext context{.model = model,
                            .optimizer_state = state,
                            .optimizer = optimizer,
                            .loss = {.label_smoothing = golden["label_smoothing"]},
                            .clip_norm = golden["clip_norm"]};
  const auto step =
      GetParam() == StepKind::kFused ? make_fused_step(context, 6, 1) : make_autograd_step(context);
  const ResidentData data{golden_tensor(golden["features"]),
                          golden_tensor(golden["classes"]).to(at::kLong), on_device(at::zeros({5})),
                          on_device(at::ones({5}))};

  for (std::size_t i = 0; i < 5; ++i) {
    const StepStats stats = step->run({data, on_device(at::arange(6, at::kLong)), 0, 6, 6},
                                      {.learning_rate = golden["learning_rate"]});
    EXPECT_NEAR(stats.loss_sum / 6, golden["mean_losses"][i].get<float>(), 1e-6);
    EXPECT_NEAR(stats.grad_norm, golden["grad_norms"][i].get<float>(), 1e-6);
  }
  test::expect_golden(model.parameters(), model.parameters().values, golden["after"]);
}

// The gradient and the results of a step over the first `num_samples` rows in batches.
struct Result {
  at::Tensor gradients;
  StepStats stats;
};

Result run_in_batches(StepKind kind, int64_t num_samples, int64_t batch_size) {
  config::Config config = test::small_config();
  config.training.step = kind;
  config.training.gradient_clip_norm = 0;
  config.model.norm = config::Norm::kLayer;
  const auto session = test::make_small_session(config);
  const StepStats stats = session->step->run(
      {session->train, on_device(at::arange(num_samples, at::kLong)), 0, num_samples, batch_size},
      {.learning_rate = 0.1});
  return {session->model.parameters().gradients.clone(), stats};
}

void expect_same(const Result& accumulated, const Result& whole) {
  const double norm = static_cast<double>(whole.stats.grad_norm);
  EXPECT_TRUE(close(accumulated.gradients, whole.gradients, 1e-6 * norm, 1e-6));
  EXPECT_NEAR(accumulated.stats.loss_sum, whole.stats.loss_sum, 1e-6F * whole.stats.loss_sum);
  EXPECT_EQ(accumulated.stats.num_correct, whole.stats.num_correct);
  EXPECT_EQ(accumulated.stats.num_samples, whole.stats.num_samples);
}

TEST_P(StepTest, AccumulatedBatchesAreTheOneBigBatch) {
  expect_same(run_in_batches(GetParam(), 32, 8), run_in_batches(GetParam(), 32, 32));
}

TEST_P(StepTest, AShortLastBatchCountsByItsSamples) {
  expect_same(run_in_batches(GetParam(), 21, 8), run_in_batches(GetParam(), 21, 21));
  expect_same(run_in_batches(GetParam(), 3, 8), run_in_batches(GetParam(), 3, 3));
}

TEST_P(StepTest, GradientsOfTheStepBeforeAreForgotten) {
  config::Config config = of_this_kind(test::small_config());
  config.training.gradient_clip_norm = 0;
  const auto session = test::make_small_session(config);
  const at::Tensor order = on_device(at::arange(8, at::kLong));
  const Window window{session->train, order, 0, 8, 8};
  session->step->run(window, {.learning_rate = 0.0});
  const at::Tensor once = session->model.parameters().gradients.clone();
  session->step->run(window, {.learning_rate = 0.0});
  EXPECT_TRUE(identical(session->model.parameters().gradients, once));
}

TEST_P(StepTest, TheNormIsThatBeforeClipping) {
  config::Config config = of_this_kind(test::exact_config());
  config.training.gradient_clip_norm = 1;
  const auto session = test::make_exact_session(config, test::equal_rows(4, 1), {});
  const StepStats stats = session->step->run(
      {session->train, on_device(at::arange(2, at::kLong)), 0, 2, 2}, {.learning_rate = 0.5});
  EXPECT_EQ(stats.grad_norm, 4.0F);
  // Each of the four parameters had the gradient -2, clipped to -1/2.
  for (const at::Tensor& parameter : session->model.parameters().parameters) {
    EXPECT_TRUE(close(parameter, at::full_like(parameter, 0.25)));
  }
}

TEST_P(StepTest, AGradientThatIsNotFiniteLeavesWeightsAndMomentsAlone) {
  config::Config config = of_this_kind(test::exact_config());
  config.training.optimizer.momentum = 0.9;
  auto rows = test::equal_rows(4, 1);
  rows.values[1] = std::numeric_limits<float>::quiet_NaN();
  const auto session = test::make_exact_session(config, std::move(rows), {});
  const StepStats stats = session->step->run(
      {session->train, on_device(at::arange(2, at::kLong)), 0, 2, 2}, {.learning_rate = 0.5});
  EXPECT_FALSE(stats.is_finite);
  EXPECT_EQ(stats.num_samples, 2);
  const at::Tensor& values = session->model.parameters().values;
  EXPECT_TRUE(identical(values, at::zeros_like(values)));
  EXPECT_TRUE(identical(session->optimizer_state.moments[0].tensor, at::zeros_like(values)));
  EXPECT_EQ(session->optimizer_state.step, 0);
}

// The forward pass has changed them when the loss is known.
TEST_P(StepTest, AGradientThatIsNotFiniteLeavesRunningStatisticsAlone) {
  config::Config config = of_this_kind(test::small_config());
  config.model.norm = config::Norm::kBatch;
  const auto session = test::make_small_session(config);
  const at::Tensor before = session->model.buffer_values().clone();
  session->train.features.select(0, 3).fill_(std::numeric_limits<float>::infinity());
  const at::Tensor order = on_device(at::arange(8, at::kLong));
  const Window good{session->train, order, 4, 4, 2};
  const Window bad{session->train, order, 0, 8, 2};
  EXPECT_FALSE(session->step->run(bad, {.learning_rate = 0.5}).is_finite);
  EXPECT_TRUE(identical(session->model.buffer_values(), before));
  EXPECT_TRUE(session->step->run(good, {.learning_rate = 0.5}).is_finite);
  EXPECT_FALSE(identical(session->model.buffer_values(), before));
}

// An infinite variance hides the value that caused it: loss and gradient are finite.
TEST_P(StepTest, RunningStatisticsThatAreNotFiniteAreNotTaken) {
  config::Config config = of_this_kind(test::small_config());
  config.model.norm = config::Norm::kBatch;
  const auto session = test::make_small_session(config);
  const at::Tensor before = session->model.buffer_values().clone();
  session->train.features.select(0, 3).fill_(1e30);
  const StepStats stats = session->step->run(
      {session->train, on_device(at::arange(8, at::kLong)), 0, 8, 8}, {.learning_rate = 0.5});
  EXPECT_FALSE(stats.is_finite);
  EXPECT_TRUE(std::isfinite(stats.loss_sum));
  EXPECT_TRUE(identical(session->model.buffer_values(), before));
}

TEST_P(StepTest, FrozenParametersKeepTheirValuesAndTheRestIsTrained) {
  for (const auto name : {config::OptimizerName::kSgd, config::OptimizerName::kAdamw}) {
    config::Config config = of_this_kind(test::small_config());
    config.model.norm = config::Norm::kBatch;
    config.training.freeze = {"layers.0.*", "norms.0.*"};
    config.training.optimizer.name = name;
    const auto session = test::make_small_session(config);
    EXPECT_EQ(session->model.parameters().num_frozen(), 5 * 8 + 8 + 8 + 8);
    const at::Tensor values = session->model.parameters().values.clone();
    const at::Tensor buffers = session->model.buffer_values().clone();
    for (int i = 0; i < 3; ++i) test::make_step(*session);
    const model::FlatParameters& flat = session->model.parameters();
    for (std::size_t i = 0; i < flat.specs.size(); ++i) {
      const std::string& parameter = flat.specs[i].name;
      // The norm behind it takes its mean away: the gradient is what rounding leaves, or nothing.
      if (parameter == "layers.1.bias") continue;
      const bool is_frozen = parameter.starts_with("layers.0") || parameter.starts_with("norms.0");
      const auto same =
          identical(parameter_view(flat, flat.values, i), parameter_view(flat, values, i));
      EXPECT_EQ(static_cast<bool>(same), is_frozen) << parameter;
    }
    // The first norm has its mean and variance in front.
    EXPECT_TRUE(
        identical(session->model.buffer_values().narrow(0, 0, 16), buffers.narrow(0, 0, 16)));
    EXPECT_FALSE(
        identical(session->model.buffer_values().narrow(0, 16, 16), buffers.narrow(0, 16, 16)));
  }
}

// The gradient of the rest must not depend on whether the frozen part could be trained.
TEST_P(StepTest, FreezingTheFirstLayerLeavesTheFirstStepOfTheOthersAsItIs) {
  config::Config config = of_this_kind(test::small_config());
  config.training.gradient_clip_norm = 0;
  const auto whole = test::make_small_session(config);
  config.training.freeze = {"layers.0.*"};
  const auto frozen = test::make_small_session(config);
  test::make_step(*whole);
  test::make_step(*frozen);
  EXPECT_TRUE(identical(test::find(frozen->model.state(), "layers.1.weight"),
                        test::find(whole->model.state(), "layers.1.weight")));
  EXPECT_TRUE(identical(test::find(frozen->model.state(), "layers.2.bias"),
                        test::find(whole->model.state(), "layers.2.bias")));
}

}  // namespace
}  // namespace trainer::train
