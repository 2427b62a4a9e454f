// SPDX-License-Identifier: Apache-2.0
#include "trainer/metrics/regression.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/base/text/json.h"

#include "support/golden_file.h"

namespace trainer::metrics {
namespace {

using Numbers = std::vector<double>;

TEST(RegressionTest, ScoresOfEachTargetAreThoseOfScikitLearn) {
  const Json golden = test::read_golden("metrics.json")["regression"];
  const auto numbers = [&](const char* name) {
    const std::vector<float> rows = test::golden_rows(golden[name]);
    return Numbers(rows.begin(), rows.end());
  };
  const std::vector<TargetScores> scores =
      target_scores(numbers("predictions"), numbers("targets"), 2);
  ASSERT_EQ(scores.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(scores[i].mae, golden["mae"][i].get<double>(), 1e-6);
    EXPECT_NEAR(scores[i].rmse, golden["rmse"][i].get<double>(), 1e-6);
    EXPECT_NEAR(scores[i].mape / golden["mape"][i].get<double>(), 1, 1e-6);
    EXPECT_NEAR(scores[i].r2, golden["r2"][i].get<double>(), 1e-6);
  }
}

TEST(RegressionTest, AConstantTargetIsExplainedByExactPredictionsOnly) {
  const Numbers right = {3, 3};
  const Numbers wrong = {3, 4};
  EXPECT_EQ(target_scores(right, right, 1).front().r2, 1.0);
  EXPECT_EQ(target_scores(wrong, right, 1).front().r2, 0.0);
}

TEST(RegressionTest, LargeTargetsThatHardlyDifferAreToldApart) {
  const Numbers targets = {1e9 + 0.25, 1e9 + 0.5, 1e9 + 0.75};
  const TargetScores scores = target_scores({{1e9 + 0.25, 1e9 + 0.5, 1e9 + 1}}, targets, 1).front();
  EXPECT_EQ(scores.mae, 0.25 / 3);
  EXPECT_EQ(scores.r2, 0.5);
}

TEST(RegressionTest, R2OfASingleRowIsNotDefined) {
  const Numbers one = {3};
  EXPECT_TRUE(std::isnan(target_scores(one, one, 1).front().r2));
}

}  // namespace
}  // namespace trainer::metrics
