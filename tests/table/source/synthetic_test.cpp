// SPDX-License-Identifier: Apache-2.0
#include "trainer/table/source/synthetic.h"

#include <cmath>

#include <gtest/gtest.h>

namespace trainer::data {
namespace {

using Floats = std::vector<float>;

TEST(SyntheticTest, IsTheSameOnEveryPlatformForEver) {
  const Table table = make_synthetic({2, 3, 2, 1.0, 42});
  EXPECT_EQ(std::get<Array<float>>(table.features.values),
            (Floats{-0x1.6bb9ep-2f, -0x1.e09884p-3f, -0x1.4dd5eap+0f, 0x1.7a1c72p-1f,
                    0x1.47b258p+0f, 0x1.27062ap+0f}));
}

TEST(SyntheticTest, NamesColumnsAndTakesTurnsWithClasses) {
  const Table table = make_synthetic({5, 2, 3, 1.0, 1});
  EXPECT_EQ(table.feature_names, (std::vector<std::string>{"feature_0", "feature_1"}));
  EXPECT_EQ(table.target_names.front(), "class");
  EXPECT_EQ(table.targets, (TargetCells{"0", "1", "2", "0", "1"}));
  EXPECT_EQ(table.features.num_rows, 5);
  EXPECT_EQ(table.features.num_columns, 2);
}

TEST(SyntheticTest, PutsTwoClassesOppositeAtTheGivenDistance) {
  const Table table = make_synthetic({4000, 3, 2, 2.5, 7});
  for (int64_t column = 0; column < 3; ++column) {
    double sums[2] = {0, 0};
    for (int64_t row = 0; row < 4000; ++row) sums[row % 2] += value_at(table.features, row, column);
    EXPECT_NEAR(std::abs(sums[0] / 2000), 2.5, 0.1);
    EXPECT_NEAR(sums[0] / 2000, -sums[1] / 2000, 0.15);
  }
}

TEST(SyntheticTest, DependsOnTheSeed) {
  EXPECT_NE(make_synthetic({2, 3, 2, 1.0, 1}).features.values,
            make_synthetic({2, 3, 2, 1.0, 2}).features.values);
}

}  // namespace
}  // namespace trainer::data
