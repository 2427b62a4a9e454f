// SPDX-License-Identifier: Apache-2.0
#include "trainer/metrics/classification.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/base/text/json.h"

#include "support/golden_file.h"

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

}  // namespace
}  // namespace trainer::metrics
