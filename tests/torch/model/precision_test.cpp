// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <ATen/ops/linalg_vector_norm.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <torch/version.h>

#include "trainer/torch/model/gradient.h"

#include "support/golden.h"
#include "support/networks.h"

namespace trainer::model {
namespace {

using config::Precision;
using test::golden_tensor;

/// A precision, and two roundings to it: 8 or 11 bits of a number.
struct Autocast {
  Precision precision;
  const char* file;
  double tolerance;
};

class AutocastTest : public testing::TestWithParam<Autocast> {};

TEST_P(AutocastTest, OutputsAndGradientsAreThoseOfPytorch) {
  const auto [precision, file, tolerance] = GetParam();
  const auto golden = test::read_golden(file);
  const at::Tensor features = golden_tensor(golden["features"]);
  const at::Tensor classes = golden_tensor(golden["classes"]).to(at::kLong);
  for (const auto& c : golden["cases"]) {
    SCOPED_TRACE(fmt::format("{} residual {}", c["activation"].dump(), c["residual"].dump()));
    test::MlpRecipe options = test::small_network();
    options.activation = from_text<config::Activation>(c["activation"].get<std::string>()).value();
    options.residual = c["residual"];
    options.precision = precision;
    Network mlp = test::make_network(options);
    FlatParameters& flat = mlp.parameters();
    test::set_parameters(flat, golden["parameters"]);
    const at::Tensor outputs = compute_gradient(mlp, {.features = features,
                                                      .targets = classes,
                                                      .loss = {},
                                                      .scale = test::scale_of_mean(features),
                                                      .noise = {}})
                                   .outputs;
    EXPECT_EQ(outputs.scalar_type(), at::kFloat);
    EXPECT_TRUE(test::close(outputs, golden_tensor(c["outputs"]), tolerance, tolerance));
    for (std::size_t i = 0; i < flat.specs.size(); ++i) {
      const std::string& name = flat.specs[i].name;
      EXPECT_TRUE(test::close(parameter_view(flat, flat.gradients, i),
                              golden_tensor(c["gradients"][name]), tolerance, tolerance))
          << name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Bf16, AutocastTest,
                         testing::Values(Autocast{Precision::kBf16, "autocast_bf16.json", 0.01}));
#if TORCH_VERSION_MAJOR > 1  // earlier ones have no fp16 on the CPU
INSTANTIATE_TEST_SUITE_P(Fp16, AutocastTest,
                         testing::Values(Autocast{Precision::kFp16, "autocast_fp16.json",
                                                  0.00125}));
#endif

at::Tensor gradient_of(test::MlpRecipe options, Precision precision) {
  options.precision = precision;
  const auto golden = test::read_golden("autocast_bf16.json");
  Network mlp = test::make_network(options);
  for (std::size_t i = 0; i < mlp.parameters().specs.size(); ++i) {
    const std::string& name = mlp.parameters().specs[i].name;
    parameter_view(mlp.parameters(), mlp.parameters().values, i)
        .copy_(golden_tensor(golden["parameters"][name]));
  }
  const at::Tensor features = golden_tensor(golden["features"]);
  const at::Tensor classes = golden_tensor(golden["classes"]).to(at::kLong);
  compute_gradient(mlp, {.features = features, .targets = classes, .loss = {}, .noise = {3, 0}});
  return mlp.parameters().gradients.clone();
}

TEST(LowPrecisionTest, GradientsInBf16AreNearlyThoseInFp32ForEveryModel) {
  for (const auto norm : {config::Norm::kNone, config::Norm::kLayer, config::Norm::kBatch}) {
    for (const bool residual : {false, true}) {
      for (const double dropout : {0.0, 0.3}) {
        SCOPED_TRACE(fmt::format("norm {}, residual {}, dropout {}", static_cast<int>(norm),
                                 residual, dropout));
        test::MlpRecipe options = test::small_network();
        options.norm = norm;
        options.residual = residual;
        options.dropout = dropout;
        options.activation = config::Activation::kGelu;
        const at::Tensor exact = gradient_of(options, Precision::kFp32);
        const double exact_norm = at::linalg_vector_norm(exact, 2).item<double>();
        const at::Tensor low = gradient_of(options, Precision::kBf16);
        const double distance = at::linalg_vector_norm(low.sub(exact), 2).item<double>();
        EXPECT_GT(distance, 0);
        EXPECT_LT(distance, 0.03 * exact_norm);
      }
    }
  }
}

}  // namespace
}  // namespace trainer::model
