// SPDX-License-Identifier: Apache-2.0
#include "trainer/metrics/folds.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/base/text/json.h"

namespace trainer::metrics {
namespace {

std::vector<FoldResult> two_folds() {
  return {{1, 1, "a_fold_1", 12, 1000, {{"loss", 0.25}, {"accuracy", 0.9}}},
          {2, 1, "b_fold_2", 0, 999, {{"loss", 0.75}, {"accuracy", 0.8}}}};
}

TEST(FoldsTest, HasMeanAndSpreadOfEachScore) {
  EXPECT_EQ(folds_document(two_folds(), {2, 1}).text(),
            "fold  best epoch   rows    loss  accuracy\n"
            "1             12  1,000  0.2500   90.00 %\n"
            "2              -    999  0.7500   80.00 %\n"
            "mean                     0.5000   85.00 %\n"
            "std                      0.3536    7.07 %\n");
}

TEST(FoldsTest, TheSpreadIsThatOfASample) {
  const std::vector<Spread> all = spreads(two_folds());
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].name, "loss");
  EXPECT_EQ(all[0].mean, 0.5);
  EXPECT_NEAR(all[0].deviation, 0.5 / std::sqrt(2.0), 1e-15);
  EXPECT_EQ(spreads({two_folds().front()}).front().deviation, 0);
  EXPECT_TRUE(spreads({}).empty());
}

TEST(FoldsTest, AMetricThatTheFirstFoldLacksIsThatOfTheOthers) {
  std::vector<FoldResult> folds = two_folds();
  folds[1].scores.push_back({"auroc", 0.75});
  const std::vector<Spread> all = spreads(folds);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[2].name, "auroc");
  EXPECT_EQ(all[2].mean, 0.75);
}

TEST(FoldsTest, JsonHasTheSame) {
  const Json json = folds_document(two_folds(), {5, 1}).json();
  EXPECT_EQ(json["folds"], 5);
  EXPECT_EQ(
      json["runs"][0].dump(),
      R"({"fold":1,"run":"a_fold_1","best_epoch":12,"rows":1000,"loss":0.25,"accuracy":0.9})");
  EXPECT_EQ(json["mean"]["loss"], 0.5);
  EXPECT_TRUE(json["std"].contains("accuracy"));
}

// The second fold of the second of two repeats alone has a further score.
std::vector<FoldResult> with_baselines() {
  std::vector<FoldResult> folds = two_folds();
  for (FoldResult& fold : folds) {
    fold.scores.push_back({"pr_auc", 0.5});
    fold.baseline = {{"accuracy", 0.9}, {"pr_auc", 0.25}};
  }
  folds[1].repeat = 2;
  return folds;
}

TEST(FoldsTest, HasRepeatsAndTheBaselineOfAllScores) {
  EXPECT_EQ(folds_document(with_baselines(), {2, 2}).text(),
            "fold  repeat  best epoch   rows    loss  accuracy\n"
            "1          1          12  1,000  0.2500   90.00 %\n"
            "2          2           -    999  0.7500   80.00 %\n"
            "mean                             0.5000   85.00 %\n"
            "std                              0.3536    7.07 %\n"
            "\n"
            "metric       mean     std  baseline\n"
            "loss       0.5000  0.3536         -\n"
            "accuracy  85.00 %  7.07 %   90.00 %\n"
            "pr_auc     0.5000  0.0000    0.2500\n"
            "\n"
            "the model does not beat the baseline in accuracy\n");
  const Json json = folds_document(with_baselines(), {2, 2}).json();
  EXPECT_EQ(json["repeats"], 2);
  EXPECT_EQ(json["runs"][1]["repeat"], 2);
  EXPECT_EQ(json["runs"][1]["baseline"]["pr_auc"], 0.25);
  EXPECT_EQ(json["baseline"]["accuracy"], 0.9);
}

}  // namespace
}  // namespace trainer::metrics
