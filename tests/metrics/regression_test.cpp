// SPDX-License-Identifier: Apache-2.0
#include "trainer/metrics/regression.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "support/golden_file.h"

namespace trainer::metrics {
namespace {

using Floats = std::vector<float>;

TEST(RegressionTest, ScoresOfEachTargetAreThoseOfScikitLearn) {
  const nlohmann::json golden = test::read_golden("metrics.json")["regression"];
  const Floats predictions = test::golden_rows(golden["predictions"]);
  const std::vector<TargetScores> scores =
      target_scores({predictions, 2}, test::golden_rows(golden["targets"]));
  ASSERT_EQ(scores.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(scores[i].mae, golden["mae"][i].get<double>(), 1e-6);
    EXPECT_NEAR(scores[i].rmse, golden["rmse"][i].get<double>(), 1e-6);
    EXPECT_NEAR(scores[i].mape / golden["mape"][i].get<double>(), 1, 1e-6);
    EXPECT_NEAR(scores[i].r2, golden["r2"][i].get<double>(), 1e-6);
  }
}

TEST(RegressionTest, AConstantTargetIsExplainedByExactPredictionsOnly) {
  const Floats right = {3, 3};
  const Floats wrong = {3, 4};
  EXPECT_EQ(target_scores({right, 1}, right).front().r2, 1.0);
  EXPECT_EQ(target_scores({wrong, 1}, right).front().r2, 0.0);
}

TEST(RegressionTest, R2OfASingleRowIsNotDefined) {
  const Floats one = {3};
  EXPECT_TRUE(std::isnan(target_scores({one, 1}, one).front().r2));
}

}  // namespace
}  // namespace trainer::metrics
