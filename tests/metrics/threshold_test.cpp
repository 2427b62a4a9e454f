// SPDX-License-Identifier: Apache-2.0
#include "trainer/metrics/threshold.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/metrics/classification.h"

#include "support/enums.h"
#include "support/numbers.h"

namespace trainer::metrics {
namespace {

using Logits = std::vector<float>;
using Classes = std::vector<int64_t>;

double value_at(const Logits& logits, const Classes& targets, DecisionMetric metric,
                double threshold) {
  const ConfusionMatrix confusion =
      confusion_matrix(targets, predicted_classes({logits, 1, threshold}), 2);
  switch (metric) {
    case DecisionMetric::kAccuracy:
      return accuracy(confusion);
    case DecisionMetric::kBalancedAccuracy:
      return balanced_accuracy(confusion);
    case DecisionMetric::kF1:
      return macro_f1(confusion);
    case DecisionMetric::kBinaryF1:
      break;
  }
  return class_scores(confusion)[1].f1;
}

TEST(ThresholdTest, NoOtherThresholdIsBetter) {
  Logits logits = test::some_numbers(200, 4);
  for (float& logit : logits) logit = 3 * logit - 1;
  const Logits noise = test::some_numbers(200, 8);
  Classes targets;
  for (std::size_t i = 0; i < 200; ++i) targets.push_back(logits[i] + 2 * noise[i] > 0.2F ? 1 : 0);
  for (const DecisionMetric metric : test::every<DecisionMetric>()) {
    const auto best = best_threshold({logits, 1}, targets, metric);
    ASSERT_TRUE(best);
    EXPECT_DOUBLE_EQ(best->value, value_at(logits, targets, metric, best->threshold));
    for (double threshold = 0.005; threshold < 1; threshold += 0.005) {
      EXPECT_LE(value_at(logits, targets, metric, threshold), best->value);
    }
  }
}

TEST(ThresholdTest, OfEquallyGoodOnesTheNearestToOneHalfIsTaken) {
  const Classes targets = {0, 0, 1, 1};
  EXPECT_EQ(
      best_threshold({Logits{-3, -2, 1, 2}, 1}, targets, DecisionMetric::kAccuracy)->threshold,
      0.5);
  // All between 0.731 and 0.881 are right.
  const auto high = best_threshold({Logits{0, 1, 2, 3}, 1}, targets, DecisionMetric::kAccuracy);
  EXPECT_EQ(high->value, 1);
  EXPECT_NEAR(high->threshold, (1 / (1 + std::exp(-1.0)) + 1 / (1 + std::exp(-2.0))) / 2, 1e-6);
}

TEST(ThresholdTest, TwoLogitsAreTheirDifference) {
  const Classes targets = {0, 1, 0, 1};
  const auto one = best_threshold({Logits{-1, 2, 0.5F, 1}, 1}, targets, DecisionMetric::kBinaryF1);
  const auto two =
      best_threshold({Logits{1, 0, 0, 2, 0, 0.5F, -1, 0}, 2}, targets, DecisionMetric::kBinaryF1);
  EXPECT_EQ(one->threshold, two->threshold);
}

TEST(ThresholdTest, ThereIsNoneWithoutBothClasses) {
  EXPECT_EQ(best_threshold({Logits{1, 2}, 1}, Classes{1, 1}, DecisionMetric::kF1), std::nullopt);
  EXPECT_EQ(best_threshold({{}, 1}, {}, DecisionMetric::kF1), std::nullopt);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(best_threshold({Logits{1, nan}, 1}, Classes{0, 1}, DecisionMetric::kF1), std::nullopt);
}

}  // namespace
}  // namespace trainer::metrics
