// SPDX-License-Identifier: Apache-2.0
#include "trainer/nn/cpu/kernels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/base/error.h"
#include "trainer/base/parallel/cpus.h"
#include "trainer/base/philox.h"
#include "trainer/base/text/format.h"

#include "support/enums.h"
#include "support/error_of.h"
#include "support/numbers.h"

namespace trainer::cpu {
namespace {

using Numbers = std::vector<float>;
using test::some_numbers;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

/// Each function for each instruction set, but for the product (multiply_test.cpp). That a whole
/// network computes what LibTorch does is tested in train/fused_step_test.cpp.
class KernelsTest : public testing::TestWithParam<const Kernels*> {
 protected:
  const Kernels& kernels_ = *GetParam();
};

INSTANTIATE_TEST_SUITE_P(InstructionSets, KernelsTest, testing::ValuesIn(all_kernels()),
                         [](const auto& test) { return test.param->name; });

TEST(KernelsOfThisMachineTest, TheBestInstructionSetIsTaken) {
  const char* chosen = std::getenv("TRAINER_INSTRUCTION_SET");
  EXPECT_EQ(&kernels(), chosen == nullptr ? all_kernels().back() : &find_kernels(chosen));
  EXPECT_EQ(all_kernels().front()->instruction_set, InstructionSet::kBaseline);
  EXPECT_EQ(all_kernels().back()->has_bf16, has_fast_bf16());
}

TEST(KernelsOfThisMachineTest, EachHasANameThatFindsIt) {
  for (const Kernels* of_set : all_kernels()) EXPECT_EQ(&find_kernels(of_set->name), of_set);
}

TEST(KernelsOfThisMachineTest, AnUnknownNameIsAnErrorThatListsThoseOfThisMachine) {
  std::vector<std::string> names;
  for (const Kernels* of_set : all_kernels()) names.emplace_back(of_set->name);
  EXPECT_EQ(test::message_of(ErrorKind::kUsage, [] { find_kernels("sse9"); }),
            "TRAINER_INSTRUCTION_SET: expected what this machine has (" + joined(names, " or ") +
                "), got \"sse9\"");
}

TEST_P(KernelsTest, GatheredRowsAreScaled) {
  constexpr int64_t kFeatures = 21;
  const Numbers shift = some_numbers(kFeatures, 1);
  const Numbers scale = some_numbers(kFeatures, 2);
  const Numbers floats = some_numbers(5 * kFeatures, 3);
  std::vector<uint8_t> bytes(5 * kFeatures);
  std::iota(bytes.begin(), bytes.end(), 100);
  const std::array<int64_t, 3> rows = {4, 0, 4};
  constexpr int64_t kStride = 32;
  Numbers from_floats(3 * kStride, 7);
  Numbers from_bytes(3 * kStride, 7);
  const Tile tile{3, kFeatures, kStride};
  kernels_.gather({floats.data(), nullptr, kFeatures, shift.data(), scale.data()}, rows.data(),
                  tile, from_floats.data());
  kernels_.gather({nullptr, bytes.data(), kFeatures, shift.data(), scale.data()}, rows.data(), tile,
                  from_bytes.data());
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < kStride; ++j) {
      const auto source = static_cast<std::size_t>(rows[i]) * kFeatures + j;
      const bool inside = j < kFeatures;
      EXPECT_EQ(from_floats[i * kStride + j],
                inside ? (floats[source] - shift[j]) * scale[j] : 7.0F);
      EXPECT_EQ(from_bytes[i * kStride + j],
                inside ? (static_cast<float>(bytes[source]) - shift[j]) * scale[j] : 7.0F);
    }
  }
}

TEST_P(KernelsTest, NoiseIsThatOfPhiloxAtItsPlace) {
  constexpr uint64_t kSeed = 0x123456789abcdef0;
  constexpr uint32_t kLayer = 3;
  constexpr int64_t kColumns = 150;
  Numbers noise(2 * kColumns);
  kernels_.make_noise({kSeed, kLayer, 0.25}, 41, {2, kColumns, kColumns}, noise.data());
  for (uint32_t i = 0; i < 2; ++i) {
    for (uint32_t j = 0; j < kColumns; ++j) {
      const std::array<uint32_t, 4> words =
          philox4x32({j / 64 * 16 + j % 16, kLayer, 41 + i, 0},
                     {static_cast<uint32_t>(kSeed), static_cast<uint32_t>(kSeed >> 32)});
      const bool is_dropped = words[j % 64 / 16] < 0x40000000;
      EXPECT_EQ(noise[i * kColumns + j], is_dropped ? 0.0F : 1 / 0.75F) << i << ", " << j;
    }
  }
}

TEST_P(KernelsTest, AMaskIsOneWhereNoiseKeepsAValue) {
  constexpr int64_t kColumns = 150;
  Numbers noise(2 * kColumns);
  std::vector<uint8_t> mask(noise.size());
  kernels_.make_noise({7, 3, 0.25}, 41, {2, kColumns, kColumns}, noise.data());
  kernels_.make_mask({7, 3, 0.25}, 41, {2, kColumns, kColumns}, mask.data());
  for (std::size_t i = 0; i < noise.size(); ++i) EXPECT_EQ(mask[i], noise[i] > 0 ? 1 : 0) << i;
}

TEST_P(KernelsTest, GatheredRowsAreClippedSmoothly) {
  const Numbers values = {1, -2, 100};
  const Numbers shift(3, 0);
  const Numbers scale(3, 1);
  const Numbers inverse_limit = {0, 1.0F / 3, 1.0F / 3};
  const int64_t row = 0;
  Numbers out(3);
  kernels_.gather({.floats = values.data(),
                   .num_features = 3,
                   .shift = shift.data(),
                   .scale = scale.data(),
                   .inverse_limit = inverse_limit.data()},
                  &row, {1, 3, 3}, out.data());
  EXPECT_EQ(out[0], 1);
  EXPECT_FLOAT_EQ(out[1], -2 / std::sqrt(1 + 4.0F / 9));
  EXPECT_FLOAT_EQ(out[2], 100 / std::sqrt(1 + 10000.0F / 9));
}

TEST_P(KernelsTest, NoiseDropsItsPart) {
  constexpr int64_t kSize = 100'000;
  Numbers noise(kSize);
  kernels_.make_noise({1, 0, 0.3}, 0, {1, kSize, kSize}, noise.data());
  const auto dropped = std::count(noise.begin(), noise.end(), 0.0F);
  EXPECT_NEAR(static_cast<double>(dropped) / kSize, 0.3, 0.006);  // four deviations
}

TEST_P(KernelsTest, ActivationsKeepNaN) {
  for (const auto kind : test::every<config::Activation>()) {
    const Numbers pre(40, kNaN);
    const Numbers shift(40, 1);
    Numbers out(40);
    kernels_.activate(kind, {1, 40, 40},
                      {.pre = pre.data(), .shift = shift.data(), .out = out.data()});
    for (const float value : out) EXPECT_TRUE(std::isnan(value)) << static_cast<int>(kind);
  }
}

TEST_P(KernelsTest, ActivationsTakeScaleShiftNoiseAndSkip) {
  const Numbers pre = {1, -1, 2};
  const Numbers scale = {2, 2, 3};
  const Numbers shift = {1, 1, -10};
  const Numbers noise = {2, 2, 2};
  const Numbers skip = {10, 20, 30};
  Numbers out(3);
  const Tile tile{1, 3, 3};
  kernels_.activate(config::Activation::kRelu, tile,
                    {.pre = pre.data(),
                     .scale = scale.data(),
                     .shift = shift.data(),
                     .noise = noise.data(),
                     .skip = skip.data(),
                     .out = out.data()});
  EXPECT_EQ(out, (Numbers{16, 20, 30}));
  const Numbers gradient = {5, 5, 5};
  kernels_.activation_gradient(config::Activation::kRelu, tile,
                               {.pre = pre.data(),
                                .scale = scale.data(),
                                .shift = shift.data(),
                                .noise = noise.data(),
                                .out = out.data()},
                               gradient.data());
  EXPECT_EQ(out, (Numbers{10, 0, 0}));
}

// Slopes against differences of values.
TEST_P(KernelsTest, SlopesAreThoseOfTheValues) {
  constexpr float kStep = 1e-2F;
  Numbers u;
  for (int i = -40; i <= 40; ++i) u.push_back(static_cast<float>(i) / 10 + 0.05F);
  const auto size = static_cast<int64_t>(u.size());
  const Numbers zeros(u.size(), 0);
  const Numbers ones(u.size(), 1);
  const Numbers up(u.size(), kStep);
  const Numbers down(u.size(), -kStep);
  for (const auto kind : test::every<config::Activation>()) {
    Numbers above(u.size()), below(u.size()), slope(u.size());
    const Tile tile{1, size, size};
    kernels_.activate(kind, tile, {.pre = u.data(), .shift = up.data(), .out = above.data()});
    kernels_.activate(kind, tile, {.pre = u.data(), .shift = down.data(), .out = below.data()});
    kernels_.activation_gradient(
        kind, tile, {.pre = u.data(), .shift = zeros.data(), .out = slope.data()}, ones.data());
    for (std::size_t i = 0; i < u.size(); ++i) {
      EXPECT_NEAR(slope[i], (above[i] - below[i]) / (2 * kStep), 1e-4F) << u[i];
    }
  }
}

TEST_P(KernelsTest, AParametricActivationIsAMixtureWithItsInput) {
  const Numbers u = {-1, 0.5F, 2};
  const Numbers zeros(3, 0);
  const Numbers mix = {0.5F, 0.25F, 2};
  const Numbers noise = {2, 2, 4};
  const Tile tile{1, 3, 3};
  Numbers plain(3), slope(3), out(3), gradient(3), mix_gradients(3);
  const Numbers ones(3, 1);
  for (const auto kind : test::every<config::Activation>()) {
    kernels_.activate(kind, tile, {.pre = u.data(), .shift = zeros.data(), .out = plain.data()});
    kernels_.activation_gradient(
        kind, tile, {.pre = u.data(), .shift = zeros.data(), .out = slope.data()}, ones.data());
    kernels_.activate(kind, tile,
                      {.pre = u.data(),
                       .shift = zeros.data(),
                       .mix = mix.data(),
                       .noise = noise.data(),
                       .out = out.data()});
    kernels_.activation_gradient(kind, tile,
                                 {.pre = u.data(),
                                  .shift = zeros.data(),
                                  .mix = mix.data(),
                                  .noise = noise.data(),
                                  .out = gradient.data(),
                                  .mix_gradients = mix_gradients.data()},
                                 ones.data());
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_FLOAT_EQ(out[i], (u[i] + (plain[i] - u[i]) * mix[i]) * noise[i]);
      EXPECT_FLOAT_EQ(gradient[i], noise[i] * (1 + (slope[i] - 1) * mix[i]));
      EXPECT_FLOAT_EQ(mix_gradients[i], noise[i] * (plain[i] - u[i]));
    }
  }
}

void expect_near(const Numbers& got, const std::vector<double>& expected, double factor) {
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], factor * expected[i], 1e-4);
}

// In double, row by row; 37 rows are two blocks of 16 and a rest.
TEST_P(KernelsTest, APeriodicEmbeddingAndItsGradientAreThoseOfTheFormula) {
  constexpr int64_t kRows = 37, kFrequencies = 5, kSize = 3, kStride = 8;
  const Numbers values = some_numbers(kRows * kStride, 1);
  const Numbers w = some_numbers(kFrequencies, 2), phases = some_numbers(kFrequencies, 3);
  const Numbers weight = some_numbers(kFrequencies * kSize, 4), bias = some_numbers(kSize, 5);
  const Numbers gradient = some_numbers(kRows * kStride, 6);
  std::vector<double> to_w(kFrequencies), to_phases(kFrequencies), to_weight(kFrequencies * kSize),
      to_bias(kSize), outs(kRows * kSize);
  for (std::size_t i = 0; i < kRows; ++i) {
    for (std::size_t c = 0; c < kSize; ++c) {
      outs[i * kSize + c] = bias[c];
      to_bias[c] += static_cast<double>(gradient[i * kStride + c]);
    }
    for (std::size_t k = 0; k < kFrequencies; ++k) {
      const double x = values[i * kStride];
      const double angle = 2 * std::numbers::pi * x * w[k] + phases[k];
      for (std::size_t c = 0; c < kSize; ++c) {
        const double v = weight[k * kSize + c];
        const double g = static_cast<double>(gradient[i * kStride + c]);
        outs[i * kSize + c] += std::cos(angle) * v;
        to_weight[k * kSize + c] += std::cos(angle) * g;
        to_phases[k] -= std::sin(angle) * v * g;
        to_w[k] -= std::sin(angle) * v * g * 2 * std::numbers::pi * x;
      }
    }
  }
  const PeriodicOperands operands{.num_frequencies = kFrequencies,
                                  .size = kSize,
                                  .values = values.data(),
                                  .stride = kStride,
                                  .frequencies = w.data(),
                                  .phases = phases.data(),
                                  .weight = weight.data(),
                                  .bias = bias.data()};
  Numbers out(kRows * kStride);
  kernels_.periodic_embedding(kRows, operands, out.data());
  for (std::size_t i = 0; i < kRows * kSize; ++i) {
    EXPECT_NEAR(out[i / kSize * kStride + i % kSize], outs[i], 1e-5);
  }
  Numbers got_w(kFrequencies), got_phases(kFrequencies), got_weight(kFrequencies * kSize),
      got_bias(kSize);
  PeriodicGradients gradients{.gradient = gradient.data(),
                              .stride = kStride,
                              .frequencies = got_w.data(),
                              .phases = got_phases.data(),
                              .weight = got_weight.data(),
                              .bias = got_bias.data()};
  for (const double times : {1.0, 2.0}) {
    kernels_.periodic_embedding_gradient(kRows, operands, gradients);
    expect_near(got_w, to_w, times);
    expect_near(got_phases, to_phases, times);
    expect_near(got_weight, to_weight, times);
    expect_near(got_bias, to_bias, times);
    gradients.accumulate = Accumulate::kYes;
  }
}

// In double, bin by bin; the last two of the five bins have no width.
TEST_P(KernelsTest, APiecewiseLinearEmbeddingAndItsGradientAreThoseOfTheFormula) {
  constexpr int64_t kRows = 37, kBins = 5, kSize = 3, kStride = 8;
  const Numbers edges = {-0.6F, -0.1F, 0.2F, 0.5F, 0.5F, 0.5F};
  Numbers values = some_numbers(kRows * kStride, 1);
  values[0] = edges[1];
  const Numbers slope = some_numbers(kSize, 2), bias = some_numbers(kSize, 3);
  const Numbers weight = some_numbers(kBins * kSize, 4);
  const Numbers gradient = some_numbers(kRows * kStride, 5);
  std::vector<double> to_slope(kSize), to_bias(kSize), to_weight(kBins * kSize),
      outs(kRows * kSize);
  for (std::size_t i = 0; i < kRows; ++i) {
    const double x = values[i * kStride];
    for (std::size_t c = 0; c < kSize; ++c) {
      const double g = gradient[i * kStride + c];
      outs[i * kSize + c] = x * slope[c] + bias[c];
      to_slope[c] += g * x;
      to_bias[c] += g;
      for (std::size_t t = 0; t < 3; ++t) {
        double part = (x - edges[t]) / (static_cast<double>(edges[t + 1]) - edges[t]);
        if (t > 0) part = std::max(part, 0.0);
        if (t < 2) part = std::min(part, 1.0);
        outs[i * kSize + c] += part * weight[t * kSize + c];
        to_weight[t * kSize + c] += part * g;
      }
    }
  }
  const PiecewiseOperands operands{.num_bins = kBins,
                                   .size = kSize,
                                   .values = values.data(),
                                   .stride = kStride,
                                   .edges = edges.data(),
                                   .slope = slope.data(),
                                   .weight = weight.data(),
                                   .bias = bias.data()};
  Numbers out(kRows * kStride);
  kernels_.piecewise_embedding(kRows, operands, out.data());
  for (std::size_t i = 0; i < kRows * kSize; ++i) {
    EXPECT_NEAR(out[i / kSize * kStride + i % kSize], outs[i], 1e-5);
  }
  Numbers got_slope(kSize), got_weight(kBins * kSize, 1.0F), got_bias(kSize);
  PiecewiseGradients gradients{.gradient = gradient.data(),
                               .stride = kStride,
                               .slope = got_slope.data(),
                               .weight = got_weight.data(),
                               .bias = got_bias.data()};
  for (const double times : {1.0, 2.0}) {
    kernels_.piecewise_embedding_gradient(kRows, operands, gradients);
    expect_near(got_slope, to_slope, times);
    expect_near(got_weight, to_weight, times);
    expect_near(got_bias, to_bias, times);
    gradients.accumulate = Accumulate::kYes;
  }
}

TEST_P(KernelsTest, CrossEntropyIsThatOfSmoothedTargets) {
  constexpr int64_t kClasses = 19;
  constexpr double kSmoothing = 0.1;
  const Numbers logits = some_numbers(2 * kClasses, 1);
  const Numbers bias = some_numbers(kClasses, 2);
  const std::array<int64_t, 2> classes = {3, 18};
  Numbers outputs = logits;
  Numbers losses(2);
  std::vector<int32_t> correct(2);
  kernels_.cross_entropy({.tile = {2, kClasses, kClasses},
                          .outputs = outputs.data(),
                          .bias = bias.data(),
                          .label_smoothing = kSmoothing,
                          .gradient_scale = 0.5F},
                         classes.data(), {losses.data(), correct.data()});
  for (std::size_t i = 0; i < 2; ++i) {
    std::vector<double> x(kClasses);
    for (std::size_t j = 0; j < kClasses; ++j) {
      x[j] = static_cast<double>(logits[i * kClasses + j]) + static_cast<double>(bias[j]);
    }
    double sum = 0;
    for (const double value : x) sum += std::exp(value);
    double loss = 0;
    for (std::size_t j = 0; j < kClasses; ++j) {
      const bool is_target = static_cast<int64_t>(j) == classes[i];
      const double wanted = kSmoothing / kClasses + (is_target ? 1 - kSmoothing : 0);
      loss -= wanted * (x[j] - std::log(sum));
      EXPECT_NEAR(static_cast<double>(outputs[i * kClasses + j]),
                  0.5 * (std::exp(x[j]) / sum - wanted), 1e-7);
    }
    EXPECT_NEAR(static_cast<double>(losses[i]), loss, 1e-6);
    const auto largest = std::max_element(x.begin(), x.end()) - x.begin();
    EXPECT_EQ(correct[i], largest == classes[i] ? 1 : 0);
  }
}

TEST_P(KernelsTest, CrossEntropyOfHugeAndNonFiniteLogits) {
  const Numbers bias(3, 0);
  const std::array<int64_t, 4> classes = {0, 1, 0, 2};
  Numbers outputs = {3e38F, -3e38F, 0, 3e38F, -3e38F, 0, kNaN, 0, 0, INFINITY, 0, 0};
  Numbers losses(4);
  std::vector<int32_t> correct(4);
  kernels_.cross_entropy({.tile = {4, 3, 3}, .outputs = outputs.data(), .bias = bias.data()},
                         classes.data(), {losses.data(), correct.data()});
  EXPECT_EQ(losses[0], 0);
  EXPECT_EQ(losses[1], INFINITY);
  EXPECT_TRUE(std::isnan(losses[2]));
  EXPECT_TRUE(std::isnan(losses[3]));
  EXPECT_EQ(correct, (std::vector<int32_t>{1, 0, 0, 0}));
}

TEST_P(KernelsTest, OfEqualLogitsTheFirstCounts) {
  const Numbers bias(3, 0);
  const std::array<int64_t, 2> classes = {0, 1};
  Numbers outputs = {1, 1, 0, 1, 1, 0};
  Numbers losses(2);
  std::vector<int32_t> correct(2);
  kernels_.cross_entropy({.tile = {2, 3, 3}, .outputs = outputs.data(), .bias = bias.data()},
                         classes.data(), {losses.data(), correct.data()});
  EXPECT_EQ(correct, (std::vector<int32_t>{1, 0}));
}

TEST_P(KernelsTest, SquaredErrorsAreMeansOverTheOutputs) {
  const Numbers bias = {1, 0};
  const Numbers values = {1, 2, 3, 4};
  Numbers outputs = {2, 2, 2, 1};
  Numbers losses(2);
  std::vector<int32_t> correct(2);
  kernels_.regression_loss(
      config::Loss::kMse,
      {.tile = {2, 2, 2}, .outputs = outputs.data(), .bias = bias.data(), .gradient_scale = 0.5F},
      values.data(), {losses.data(), correct.data()});
  EXPECT_EQ(losses, (Numbers{2, 4.5}));
  EXPECT_EQ(outputs, (Numbers{1, 0, 0, -1.5}));
}

TEST_P(KernelsTest, ColumnSumsAreThoseOfValuesOrProducts) {
  constexpr int64_t kRows = 5;
  constexpr int64_t kColumns = 21;
  const Numbers x = some_numbers(kRows * kColumns, 1);
  const Numbers y = some_numbers(kRows * kColumns, 2);
  Numbers sums(kColumns, 1);
  Numbers products(kColumns, 1);
  const Tile tile{kRows, kColumns, kColumns};
  kernels_.column_sums(tile, x.data(), nullptr, 0, sums.data(), Accumulate::kNo);
  kernels_.column_sums(tile, x.data(), y.data(), tile.stride, products.data(), Accumulate::kYes);
  for (std::size_t j = 0; j < kColumns; ++j) {
    double sum = 0;
    double product = 1;
    for (std::size_t i = 0; i < kRows; ++i) {
      const auto at = i * kColumns + j;
      sum += static_cast<double>(x[at]);
      product += static_cast<double>(x[at]) * static_cast<double>(y[at]);
    }
    EXPECT_NEAR(static_cast<double>(sums[j]), sum, 1e-6);
    EXPECT_NEAR(static_cast<double>(products[j]), product, 1e-6);
  }
}

TEST_P(KernelsTest, SquaresAreSummed) {
  const Numbers values = some_numbers(8192, 1);
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value) * static_cast<double>(value);
  EXPECT_NEAR(kernels_.sum_of_squares(values.data(), 8192) / sum, 1, 2e-7);
  const Numbers some = {3, 4, kNaN};
  EXPECT_EQ(kernels_.sum_of_squares(some.data(), 2), 25);
  EXPECT_TRUE(std::isnan(kernels_.sum_of_squares(some.data(), 3)));
}

}  // namespace
}  // namespace trainer::cpu
