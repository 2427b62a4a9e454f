// SPDX-License-Identifier: Apache-2.0
#include "trainer/metrics/calibration.h"

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/metrics/classification.h"

#include "support/numbers.h"

namespace trainer::metrics {
namespace {

using Logits = std::vector<float>;
using Classes = std::vector<int64_t>;

/// Rows whose classes are drawn by the probabilities of these logits.
struct Sample {
  Logits logits;
  Classes targets;
};

Sample make_sample(int64_t num_rows, int64_t num_classes) {
  Sample sample{test::some_numbers(num_rows * num_classes, 3), {}};
  const Logits uniform = test::some_numbers(num_rows, 9);
  for (float& logit : sample.logits) logit *= 2;
  for (int64_t row = 0; row < num_rows; ++row) {
    const auto exp_of = [&](int64_t c) {
      const auto at = static_cast<std::size_t>(row * num_classes + c);
      return std::exp(static_cast<double>(sample.logits[at]));
    };
    double sum = 0;
    for (int64_t c = 0; c < num_classes; ++c) sum += exp_of(c);
    double left = 0.5 * (uniform[static_cast<std::size_t>(row)] + 1) * sum;  // from -1 .. 1
    int64_t target = 0;
    while (target + 1 < num_classes && (left -= exp_of(target)) >= 0) ++target;
    sample.targets.push_back(target);
  }
  return sample;
}

Logits times(Logits logits, float factor) {
  for (float& logit : logits) logit *= factor;
  return logits;
}

TEST(CalibrationTest, TheTemperatureUndoesAFactorOfTheLogits) {
  const Sample sample = make_sample(20'000, 3);
  const double own = fit_temperature({sample.logits, 3}, sample.targets);
  for (const float factor : {0.25F, 3.0F}) {
    const Logits logits = times(sample.logits, factor);
    EXPECT_NEAR(fit_temperature({logits, 3}, sample.targets), own * factor, 2e-3 * factor);
  }
}

TEST(CalibrationTest, NoOtherTemperatureHasASmallerLogLoss) {
  const Sample sample = make_sample(20'000, 4);
  const Logits logits = times(sample.logits, 2.5F);
  const double best = fit_temperature({logits, 4}, sample.targets);
  const double loss = log_loss_at(best, {logits, 4}, sample.targets);
  EXPECT_LT(loss, log_loss({logits, 4}, sample.targets));
  EXPECT_DOUBLE_EQ(log_loss_at(1, {logits, 4}, sample.targets),
                   log_loss({logits, 4}, sample.targets));
  // The prior moves the best one by about one part in the number of rows.
  for (const double factor : {0.98, 1.02}) {
    EXPECT_GT(log_loss_at(best * factor, {logits, 4}, sample.targets), loss);
  }
}

TEST(CalibrationTest, ASingleLogitIsTheSecondOfTwoClasses) {
  const Logits one = {2, -1, 0.5F, -3, 1};
  const Logits two = {0, 2, 0, -1, 0, 0.5F, 0, -3, 0, 1};
  const Classes targets = {1, 0, 0, 0, 1};
  EXPECT_EQ(fit_temperature({one, 1}, targets), fit_temperature({two, 2}, targets));
  EXPECT_EQ(brier_score({one, 1}, targets), brier_score({two, 2}, targets));
  EXPECT_EQ(expected_calibration_error({one, 1}, targets),
            expected_calibration_error({two, 2}, targets));
  EXPECT_EQ(log_loss_at(2, {one, 1}, targets), log_loss_at(2, {two, 2}, targets));
}

// Without an error, ever smaller temperatures are better; the prior ends that.
TEST(CalibrationTest, RowsWithoutAnErrorHaveAFiniteTemperature) {
  const Logits logits = {1, -1, -1, 1};
  const double temperature = fit_temperature({logits, 2}, Classes{0, 1});
  EXPECT_GT(temperature, 0.2);
  EXPECT_LT(temperature, 1);
}

TEST(CalibrationTest, WhatCannotBeFittedStays) {
  EXPECT_EQ(fit_temperature({{}, 2}, {}), 1);
  const Logits logits = {1, std::numeric_limits<float>::quiet_NaN()};
  EXPECT_EQ(fit_temperature({logits, 2}, Classes{0}), 1);
  EXPECT_NEAR(fit_temperature({Logits{0, 0, 0, 0}, 2}, Classes{0, 1}), 1, 1e-6);
}

// By hand: probabilities 0.9 and 0.1, then 0.2 and 0.8, for classes 0 and 0.
TEST(CalibrationTest, TheBrierScoreIsThatOfScikitLearn) {
  const Logits two = {std::log(9.0F), 0, 0, std::log(4.0F)};
  EXPECT_NEAR(brier_score({two, 2}, Classes{0, 0}), (0.01 + 0.64) / 2, 1e-7);
  const Logits three = {std::log(2.0F), 0, 0};
  EXPECT_NEAR(brier_score({three, 3}, Classes{0}), 0.25 + 2.0 / 16, 1e-7);
}

// By hand: two rows of the bin of 0.8, one of them right; one row of the bin of 0.5, wrong.
TEST(CalibrationTest, TheCalibrationErrorComparesWithinBins) {
  const float sure = std::log(4.0F);
  const Logits logits = {sure, 0, sure, 0, 0, 0};
  EXPECT_NEAR(expected_calibration_error({logits, 2}, Classes{0, 1, 1}),
              (std::abs(1 - 1.6) + 0.5) / 3, 1e-6);
}

}  // namespace
}  // namespace trainer::metrics
