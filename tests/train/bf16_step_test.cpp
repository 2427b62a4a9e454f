// SPDX-License-Identifier: Apache-2.0
// The fused step in bf16. Its products have tests of their own (nn/cpu/multiply_test.cpp).
#include <cmath>
#include <functional>
#include <memory>
#include <vector>

#include <ATen/ops/linalg_vector_norm.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/train/session.h"

#include "support/sessions.h"
#include "support/tensors.h"

namespace trainer::train {
namespace {

// Smooth: rounding would move relu's zeros, and their gradients with them.
config::Config bf16_config() {
  config::Config config = test::small_config();
  config.data.synthetic = {.num_samples = 70, .num_features = 21, .num_classes = 3};
  config.data.validation_fraction = 0;
  config.data.test_fraction = 0;
  config.model.hidden_sizes = {40, 40, 40};
  config.model.activation = config::Activation::kSilu;
  config.training.batch_size = 35;
  config.precision = config::Precision::kBf16;
  return config;
}

std::unique_ptr<Session> session_with(const config::Config& config, int64_t num_threads = 1) {
  const auto seed = static_cast<uint64_t>(config.seed);
  auto session = make_session(config, data::load_datasets(config.data, seed), c10::kCPU);
  use_threads(*session, num_threads);
  return session;
}

using Change = std::function<void(config::Config&)>;

const std::vector<Change>& kinds() {
  static const std::vector<Change> all = {
      [](config::Config&) {},
      [](config::Config& c) { c.model.norm = config::Norm::kBatch; },
      [](config::Config& c) {
        c.model.norm = config::Norm::kLayer;
        c.model.residual = true;
        c.model.dropout = 0.2;
      },
      [](config::Config& c) {
        c.model.ensemble_size = 4;
        c.model.numeric_embedding = config::NumericEmbedding::kPiecewiseLinear;
      },
      [](config::Config& c) {
        c.model.numeric_embedding = config::NumericEmbedding::kPeriodic;
        c.model.input_scale = true;
        c.model.hidden_sizes = {33, 7};
      },
  };
  return all;
}

double norm_of(const at::Tensor& tensor) {
  return at::linalg_vector_norm(tensor, 2).item<double>();
}

// Rounding to 8 bits changes each parameter's gradient, by little.
TEST(Bf16StepTest, TheGradientIsThatOfFp32UpToRounding) {
  for (std::size_t kind = 0; kind < kinds().size(); ++kind) {
    config::Config config = bf16_config();
    kinds()[kind](config);
    const auto bf16 = session_with(config);
    ASSERT_TRUE(uses_kernels(*bf16));
    config.precision = config::Precision::kFp32;
    const auto fp32 = session_with(config);
    const StepStats a = bf16->step->run(next_window(*bf16), {.learning_rate = 0});
    const StepStats b = fp32->step->run(next_window(*fp32), {.learning_rate = 0});
    EXPECT_NEAR(a.loss_sum, b.loss_sum, 0.01F * b.loss_sum);
    const model::FlatParameters& x = bf16->model.parameters();
    const model::FlatParameters& y = fp32->model.parameters();
    for (std::size_t i = 0; i < x.specs.size(); ++i) {
      SCOPED_TRACE(fmt::format("kind {}, {}", kind, x.specs[i].name));
      const at::Tensor expected = parameter_view(y, y.gradients, i);
      const double difference = norm_of(parameter_view(x, x.gradients, i).sub(expected));
      EXPECT_LE(difference, 0.03 * std::max(norm_of(expected), 0.05 * norm_of(y.gradients)));
      EXPECT_GT(difference, 0);
    }
  }
}

// LibTorch also rounds what is between the layers.
TEST(Bf16StepTest, TheLossIsThatOfLibTorchInBf16) {
  for (const Change& change : kinds()) {
    config::Config config = bf16_config();
    change(config);
    const auto fused = session_with(config);
    config.training.step = config::StepKind::kAutograd;
    const auto autograd = session_with(config);
    const StepStats a = fused->step->run(next_window(*fused), {.learning_rate = 0});
    const StepStats b = autograd->step->run(next_window(*autograd), {.learning_rate = 0});
    EXPECT_NEAR(a.loss_sum, b.loss_sum, 0.02F * b.loss_sum);
    EXPECT_NEAR(a.grad_norm, b.grad_norm, 0.03F * b.grad_norm);
  }
}

TEST(Bf16StepTest, AnyNumberOfThreadsGivesTheSameBits) {
  for (std::size_t kind = 0; kind < kinds().size(); ++kind) {
    config::Config config = bf16_config();
    config.data.synthetic.num_samples = 300;
    config.training.batch_size = 150;
    kinds()[kind](config);
    const auto one = session_with(config);
    for (int i = 0; i < 2; ++i) test::make_step(*one);
    for (const int64_t num_threads : {2, 3, 5}) {
      SCOPED_TRACE(fmt::format("kind {}, {} threads", kind, num_threads));
      const auto several = session_with(config, num_threads);
      for (int i = 0; i < 2; ++i) test::make_step(*several);
      EXPECT_TRUE(
          test::identical(several->model.parameters().values, one->model.parameters().values));
    }
  }
}

TEST(Bf16StepTest, AnEvaluationRoundsToo) {
  config::Config config = bf16_config();
  const auto bf16 = session_with(config);
  config.precision = config::Precision::kFp32;
  const auto fp32 = session_with(config);
  const Evaluation a = bf16->step->evaluate(bf16->train);
  const Evaluation b = fp32->step->evaluate(fp32->train);
  EXPECT_NEAR(a.loss, b.loss, 0.01 * b.loss);
  EXPECT_NE(a.loss, b.loss);
}

}  // namespace
}  // namespace trainer::train
