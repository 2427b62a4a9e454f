// SPDX-License-Identifier: Apache-2.0

#include "trainer/metrics/classification.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/base/text/json.h"

#include "support/enums.h"
#include "support/golden_file.h"
#include "support/numbers.h"

namespace trainer::metrics {
namespace {

using Classes = std::vector<int64_t>;
using Floats = std::vector<float>;

class ClassificationTest : public ::testing::TestWithParam<const char*> {
 protected:
  const Json golden_ = test::read_golden("metrics.json")[GetParam()];
  const Floats logits_ = test::golden_rows(golden_["logits"]);
  const Classes targets_ = golden_["targets"].get<Classes>();
  const Outputs outputs_{logits_, static_cast<int64_t>(golden_["logits"][0].size())};
  const ConfusionMatrix confusion_ =
      confusion_matrix(targets_, predicted_classes(outputs_), outputs_.num_columns);
};

TEST_P(ClassificationTest, ScoresAreThoseOfScikitLearn) {
  EXPECT_EQ(confusion_.counts, golden_["confusion"].get<Classes>());
  EXPECT_NEAR(accuracy(confusion_), golden_["accuracy"].get<double>(), 1e-12);
  EXPECT_NEAR(macro_f1(confusion_), golden_["f1"].get<double>(), 1e-12);
  EXPECT_NEAR(auroc(outputs_, targets_).value(), golden_["auroc"].get<double>(), 1e-12);
  EXPECT_NEAR(balanced_accuracy(confusion_), golden_["balanced_accuracy"].get<double>(), 1e-12);
  EXPECT_NEAR(pr_auc(outputs_, targets_).value(), golden_["pr_auc"].get<double>(), 1e-12);
  EXPECT_NEAR(log_loss(outputs_, targets_), golden_["log_loss"].get<double>(), 1e-7);
  if (golden_.contains("binary_f1")) {
    EXPECT_NEAR(class_scores(confusion_)[1].f1, golden_["binary_f1"].get<double>(), 1e-12);
  }
  if (golden_.contains("top_2_accuracy")) {
    EXPECT_NEAR(top_k_accuracy(outputs_, targets_, 2), golden_["top_2_accuracy"].get<double>(),
                1e-12);
  }
}

TEST_P(ClassificationTest, ScoresOfEachClassAreThoseOfScikitLearn) {
  const std::vector<ClassScores> scores = class_scores(confusion_);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    EXPECT_NEAR(scores[i].precision, golden_["precision"][i].get<double>(), 1e-12);
    EXPECT_NEAR(scores[i].recall, golden_["recall"][i].get<double>(), 1e-12);
    EXPECT_NEAR(scores[i].f1, golden_["class_f1"][i].get<double>(), 1e-12);
    EXPECT_EQ(scores[i].num_rows, golden_["rows"][i].get<int64_t>());
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, ClassificationTest,
                         ::testing::Values("two_classes", "four_classes"));

// Newcombe, "Two-sided confidence intervals for the single proportion", 1998, table I, method 3.
TEST(ShareIntervalTest, IsThatOfWilson) {
  const auto expect = [](int64_t count, int64_t num_rows, double low, double high) {
    const Interval interval =
        share_interval(static_cast<double>(count) / static_cast<double>(num_rows), num_rows);
    EXPECT_NEAR(interval.low, low, 5e-5) << count;
    EXPECT_NEAR(interval.high, high, 5e-5) << count;
  };
  expect(81, 263, 0.2553, 0.3662);
  expect(15, 148, 0.0624, 0.1605);
  expect(0, 20, 0, 0.1611);
  expect(1, 29, 0.0061, 0.1718);
}

// 2, 4, 4, 4, 5, 5, 7, 9: mean 5, sample variance 32 / 7.
TEST(MeanIntervalTest, IsTheMeanAndTwoStandardErrors) {
  const std::vector<double> values = {2, 4, 4, 4, 5, 5, 7, 9};
  const double width = 1.959964 * std::sqrt(32.0 / 7 / 8);
  EXPECT_NEAR(mean_interval(values).value().low, 5 - width, 1e-12);
  EXPECT_NEAR(mean_interval(values).value().high, 5 + width, 1e-12);
  EXPECT_FALSE(mean_interval(std::vector<double>{1}).has_value());
}

TEST(ClassificationEdgeTest, TheFirstLargestLogitIsTheClass) {
  const Floats logits = {0, 1, 2, 7, 7, 1};
  EXPECT_EQ(predicted_classes({logits, 3}), (Classes{2, 0}));
}

TEST(ClassificationEdgeTest, RowsWithOutputsThatAreNotFiniteHaveNoClassAndCountAsWrong) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  const Floats logits = {nan, 0, 3, infinity, 0, 1, 1, 0};
  const Classes targets = {0, 1, 1, 0};
  EXPECT_EQ(predicted_classes({logits, 2}), (Classes{kNoClass, kNoClass, 1, 0}));
  EXPECT_EQ(predicted_classes({Floats{nan, -infinity, 1}, 1}), (Classes{kNoClass, kNoClass, 1}));

  const ConfusionMatrix confusion = confusion_matrix(targets, predicted_classes({logits, 2}), 2);
  EXPECT_EQ(confusion.counts, (Classes{1, 0, 0, 1}));
  EXPECT_EQ(confusion.without_class, (Classes{1, 1}));
  EXPECT_EQ(accuracy(confusion), 0.5);
  EXPECT_EQ(balanced_accuracy(confusion), 0.5);
  EXPECT_EQ(class_scores(confusion)[0].num_rows, 2);
  EXPECT_EQ(class_scores(confusion)[0].precision, 1.0);
  EXPECT_EQ(class_scores(confusion)[0].recall, 0.5);
  EXPECT_EQ(top_k_accuracy({logits, 2}, targets, 1), 0.5);
}

TEST(ClassificationEdgeTest, ASingleLogitIsThatOfTheSecondClass) {
  const Floats logits = {-1, 2, 0, 3};
  EXPECT_EQ(predicted_classes({logits, 1}), (Classes{0, 1, 0, 1}));
  EXPECT_EQ(auroc({logits, 1}, Classes{0, 1, 1, 1}), 1.0);
  EXPECT_EQ(auroc({logits, 1}, Classes{0, 0, 1, 1}), 0.75);
}

TEST(ClassificationEdgeTest, TheCurveOfPrecisionAndRecallHasOneStepForEqualScores) {
  const Floats logits = {1, 1, 1, 1};
  EXPECT_EQ(pr_auc({logits, 1}, Classes{0, 1, 1, 0}), 0.5);
  EXPECT_EQ(pr_auc({logits, 1}, Classes{1, 1, 1, 1}), 1.0);
  EXPECT_FALSE(pr_auc({logits, 1}, Classes{0, 0, 0, 0}).has_value());
}

TEST(ClassificationEdgeTest, TheLogLossOfASingleLogitIsThatOfItsSigmoid) {
  const Floats logits = {0, 0};
  EXPECT_NEAR(log_loss({logits, 1}, Classes{0, 1}), std::log(2.0), 1e-15);
  const Floats certain = {-300, 300};
  EXPECT_NEAR(log_loss({certain, 1}, Classes{0, 1}), 0.0, 1e-100);
  EXPECT_NEAR(log_loss({certain, 1}, Classes{1, 1}), 150.0, 1e-12);
}

TEST(ClassificationEdgeTest, EqualScoresCountHalf) {
  const Floats logits = {1, 1, 1, 1};
  EXPECT_EQ(auroc({logits, 1}, Classes{0, 1, 1, 0}), 0.5);
}

TEST(ClassificationEdgeTest, ARankingNeedsTwoClassesAndFiniteLogits) {
  Floats logits = {1, 2, 3};
  EXPECT_FALSE(auroc({logits, 1}, Classes{1, 1, 1}).has_value());
  logits[1] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(auroc({logits, 1}, Classes{0, 1, 1}).has_value());
}

TEST(ClassificationEdgeTest, AClassWithoutRowsIsLeftOutOfTheMeans) {
  const Floats logits = {2, 1, 0, 1, 2, 0, 2, 1, 0};  // class 2 is neither there nor predicted
  const Classes targets = {0, 1, 0};
  const ConfusionMatrix confusion = confusion_matrix(targets, predicted_classes({logits, 3}), 3);
  EXPECT_EQ(macro_f1(confusion), 1.0);
  EXPECT_EQ(balanced_accuracy(confusion), 1.0);
  EXPECT_EQ(class_scores(confusion)[2].f1, 0.0);
  EXPECT_EQ(auroc({logits, 3}, targets), 1.0);
}

TEST(ClassificationEdgeTest, FarLogitsAreStillTold) {
  // Both probabilities are 1 in double; their distances from 1 are not.
  const Floats logits = {200, 0, 0, 300, 0, 0, 0, 200, 0};
  EXPECT_EQ(auroc({logits, 3}, Classes{1, 0, 2}), (1.0 + 0.5 + 0.75) / 3);
}

using Numbers = std::vector<double>;
using Flags = std::vector<uint8_t>;

// sklearn.metrics.roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], drop_intermediate=False)
TEST(CurvesTest, TheRocCurveHasAPointForEachScore) {
  const Curve curve = roc_curve(Numbers{0.1, 0.4, 0.35, 0.8}, Flags{0, 0, 1, 1});
  EXPECT_EQ(curve.x, (Numbers{0, 0, 0.5, 0.5, 1}));
  EXPECT_EQ(curve.y, (Numbers{0, 0.5, 0.5, 1, 1}));
}

TEST(CurvesTest, EqualScoresAreOnePoint) {
  const Curve curve = roc_curve(Numbers{0.5, 0.5, 0.5}, Flags{0, 1, 0});
  EXPECT_EQ(curve.x, (Numbers{0, 1}));
  EXPECT_EQ(curve.y, (Numbers{0, 1}));
}

// sklearn.metrics.precision_recall_curve of the same, from the largest score down, without the
// point (0, 1) that it adds.
TEST(CurvesTest, PrecisionAndRecallAreThoseAtEachScore) {
  const Curve curve = precision_recall_curve(Numbers{0.1, 0.4, 0.35, 0.8}, Flags{0, 0, 1, 1});
  EXPECT_EQ(curve.x, (Numbers{0.5, 0.5, 1, 1}));
  EXPECT_EQ(curve.y, (Numbers{1, 0.5, 2.0 / 3, 0.5}));
}

TEST(CurvesTest, WhatIsNoNumberComesLast) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Curve curve = roc_curve(Numbers{nan, 0.1}, Flags{1, 0});
  EXPECT_EQ(curve.x, (Numbers{0, 1, 1}));
  EXPECT_EQ(curve.y, (Numbers{0, 0, 1}));
}

TEST(CurvesTest, WithoutBothKindsOfRowsThereIsNone) {
  EXPECT_TRUE(roc_curve(Numbers{0.5}, Flags{1}).x.empty());
  EXPECT_TRUE(roc_curve(Numbers{}, Flags{}).x.empty());
  EXPECT_TRUE(precision_recall_curve(Numbers{0.5}, Flags{0}).x.empty());
}

TEST(CurvesTest, ReliabilityHasABinForEachPartWithRows) {
  const std::vector<ReliabilityBin> bins =
      reliability(Numbers{0.1, 0.2, 0.9, 1}, Flags{0, 1, 1, 1}, 4);
  ASSERT_EQ(bins.size(), 2U);
  EXPECT_DOUBLE_EQ(bins[0].mean_probability, 0.15);
  EXPECT_EQ(bins[0].frequency, 0.5);
  EXPECT_EQ(bins[0].num_rows, 2);
  EXPECT_DOUBLE_EQ(bins[1].mean_probability, 0.95);
  EXPECT_EQ(bins[1].frequency, 1);
}

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
