// SPDX-License-Identifier: Apache-2.0
#include "trainer/workflows/wizard/linear_fit.h"

#include <cmath>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

namespace trainer::wizard {
namespace {

using Target = std::function<double(double x, double z)>;

// Two columns that differ by a hundredth of what they have in common, and a constant one.
data::Dataset rows(int begin, int count, const Target& target) {
  std::vector<float> features;
  std::vector<float> values;
  for (int i = begin; i < begin + count; ++i) {
    const double x = i * 37 % 101 / 10.0;
    const double z = i * 53 % 103 / 100.0;
    for (const double value : {x + 0.01 * z, x - 0.01 * z, 5.0}) {
      features.push_back(static_cast<float>(value));
    }
    values.push_back(static_cast<float>(target(x, z)));
  }
  data::Dataset split;
  split.features = {.num_rows = count, .num_columns = 3, .values = Array<float>(features)};
  split.values = Array<float>(values);
  return split;
}

double r2_of(const Target& target) {
  data::Datasets data;
  data.schema.task = config::Task::kRegression;
  data.schema.feature_names = {"a", "b", "c"};
  data.schema.target_names = {"y"};
  data.train = rows(0, 100, target);
  data.validation = rows(100, 50, target);
  return linear_r2(data);
}

TEST(LinearFitTest, TellsHowMuchALinearModelExplains) {
  EXPECT_GT(r2_of([](double x, double z) { return 3 * x - z + 1; }), 0.999);
  EXPECT_GT(r2_of([](double, double z) { return z; }), 0.999);
  EXPECT_LT(r2_of([](double x, double) { return std::cos(3 * x); }), 0.2);
  EXPECT_EQ(r2_of([](double, double) { return 1; }), 0);
  EXPECT_EQ(linear_r2({}), 0);
}

}  // namespace
}  // namespace trainer::wizard
