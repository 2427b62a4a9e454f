// SPDX-License-Identifier: Apache-2.0
#include "report/html/run_series.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace trainer::report {
namespace {

TEST(RunSeriesTest, AreThoseOfEachFieldAndSplit) {
  const test::TemporaryFolder folder;
  folder.write("metrics.jsonl",
               R"({"step":1,"epoch":1,"split":"train","loss":3,"learning_rate":0.1}
{"step":2,"epoch":1,"split":"train","loss":2,"learning_rate":0.2,"time_seconds":1}
not a record
{"step":2,"epoch":1,"split":"validation","loss":null,"f1":0.5,"rollbacks":1,"time_seconds":1}
{"step":2,"epoch":1,"split":"test","loss":9,"time_seconds":1}
{"step":4,"epoch":2,"spl)");
  const RunCurves curves = read_curves(folder.path());
  EXPECT_EQ(curves.steps_per_epoch, 2);
  const std::vector<RunSeries>& all = curves.series;
  ASSERT_EQ(all.size(), 5U);
  EXPECT_EQ(all[0].field, "loss");
  EXPECT_TRUE(all[0].is_steps);
  EXPECT_EQ(all[0].values, (std::vector<double>{3}));
  EXPECT_EQ(all[1].field, "learning_rate");
  EXPECT_EQ(all[1].steps, (std::vector<double>{1, 2}));
  EXPECT_EQ(all[2].field, "loss");
  EXPECT_FALSE(all[2].is_steps);
  EXPECT_EQ(all[3].split, "val");
  EXPECT_TRUE(std::isnan(all[3].values[0]));
  EXPECT_EQ(all[4].field, "f1");
  EXPECT_TRUE(read_curves(folder.path() / "none").series.empty());
}

TEST(RunSeriesTest, ThinningKeepsEnds) {
  std::vector<double> x;
  std::vector<double> y;
  for (int i = 0; i < 100'000; ++i) {
    x.push_back(i);
    y.push_back(std::sin(i));
  }
  y[12'345] = 50;
  y[54'321] = -50;
  y[60'000] = std::numeric_limits<double>::quiet_NaN();
  thin_out(x, y, 500);
  EXPECT_LE(x.size(), 500U);
  EXPECT_GE(x.size(), 400U);
  EXPECT_EQ(x.front(), 0);
  EXPECT_EQ(x.back(), 99'999);
  EXPECT_TRUE(std::is_sorted(x.begin(), x.end()));
  EXPECT_EQ(*std::max_element(y.begin(), y.end()), 50);
  EXPECT_EQ(*std::min_element(y.begin(), y.end()), -50);
}

TEST(RunSeriesTest, AFewPointsStayAsTheyAre) {
  std::vector<double> x = {1, 2, 3};
  std::vector<double> y = {1, 5, 2};
  thin_out(x, y, 10);
  EXPECT_EQ(y, (std::vector<double>{1, 5, 2}));
}

}  // namespace
}  // namespace trainer::report
