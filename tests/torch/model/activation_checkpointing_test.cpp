// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/arange.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/torch/model/gradient.h"

#include "support/counting_allocator.h"
#include "support/networks.h"
#include "support/tensors.h"
#include "support/test_device.h"

namespace trainer::model {
namespace {

using test::on_device;

struct Result {
  at::Tensor gradients;
  at::Tensor outputs;
  at::Tensor buffers;
  int64_t peak_bytes = 0;
};

enum class Checkpointing { kOff, kOn };

Result gradient_of(test::MlpRecipe options, Checkpointing checkpointing, int64_t num_rows) {
  options.activation_checkpointing = checkpointing == Checkpointing::kOn;
  options.init = config::Init::kKaiming;
  Network mlp = test::make_initialized(options, 5);
  const at::Tensor features = on_device(
      at::arange(num_rows * options.num_features, at::kFloat).sin_().view({num_rows, -1}));
  const at::Tensor classes =
      on_device(at::arange(num_rows, at::kLong).remainder_(options.num_outputs));
  Result result;
  const test::CountingAllocator counting;
  result.outputs =
      compute_gradient(mlp, {.features = features, .targets = classes, .loss = {}, .noise = {9, 4}})
          .outputs;
  result.peak_bytes = counting.peak_bytes();
  result.gradients = mlp.parameters().gradients.clone();
  if (mlp.buffer_values().defined()) result.buffers = mlp.buffer_values().clone();
  return result;
}

test::MlpRecipe deep_options(std::size_t num_layers, int64_t width) {
  test::MlpRecipe options;
  options.num_features = 6;
  options.hidden_sizes = std::vector<int64_t>(num_layers, width);
  options.num_outputs = 3;
  return options;
}

TEST(ActivationCheckpointingTest, GradientsHaveTheSameBitsForEveryModel) {
  for (const std::size_t num_layers : {0U, 1U, 2U, 3U, 7U, 9U, 10U}) {
    for (const auto norm : {config::Norm::kNone, config::Norm::kLayer, config::Norm::kBatch}) {
      for (const double dropout : {0.0, 0.25}) {
        for (const auto precision : {config::Precision::kFp32, config::Precision::kBf16}) {
          SCOPED_TRACE(fmt::format("{} layers, norm {}, dropout {}, precision {}", num_layers,
                                   static_cast<int>(norm), dropout, static_cast<int>(precision)));
          test::MlpRecipe options = deep_options(num_layers, 8);
          options.norm = norm;
          options.dropout = dropout;
          options.precision = precision;
          options.residual = num_layers > 2;
          const Result whole = gradient_of(options, Checkpointing::kOff, 10);
          const Result again = gradient_of(options, Checkpointing::kOn, 10);
          EXPECT_TRUE(test::identical(again.gradients, whole.gradients));
          EXPECT_TRUE(test::identical(again.outputs, whole.outputs));
          if (whole.buffers.defined()) {
            EXPECT_TRUE(test::identical(again.buffers, whole.buffers));
          }
        }
      }
    }
  }
}

TEST(ActivationCheckpointingTest, FrozenLayersStayAsTheyAre) {
  test::MlpRecipe options = deep_options(9, 8);
  options.freeze = {"layers.0.*", "layers.1.*", "layers.4.*"};
  EXPECT_TRUE(test::identical(gradient_of(options, Checkpointing::kOn, 10).gradients,
                              gradient_of(options, Checkpointing::kOff, 10).gradients));
}

// 16 layers keep five activations instead of sixteen: inputs of segments and layers of one.
TEST(ActivationCheckpointingTest, ADeepModelNeedsLessThanHalfTheMemory) {
  const test::MlpRecipe options = deep_options(16, 64);
  const Result whole = gradient_of(options, Checkpointing::kOff, 512);
  const Result again = gradient_of(options, Checkpointing::kOn, 512);
  EXPECT_LT(again.peak_bytes, whole.peak_bytes / 2);
}

}  // namespace
}  // namespace trainer::model
