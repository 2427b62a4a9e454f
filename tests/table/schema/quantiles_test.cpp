// SPDX-License-Identifier: Apache-2.0
#include "trainer/table/schema/quantiles.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/base/philox.h"

namespace trainer::data {
namespace {

float rank(const std::vector<float>& quantiles, float value) {
  return QuantileScale(quantiles, QuantileScore::kRank)(value);
}

float normal_score(const std::vector<float>& quantiles, float value) {
  return QuantileScale(quantiles, QuantileScore::kNormal)(value);
}

TEST(QuantilesTest, QuantilesOfFewValuesAreTheValuesSorted) {
  EXPECT_EQ(find_quantiles({3, 1, 2, 1}, 100), (std::vector<float>{1, 1, 2, 3}));
  EXPECT_EQ(find_quantiles({5}, 100), std::vector<float>{5});
}

TEST(QuantilesTest, OfManyValuesThereAreAHundredQuantiles) {
  std::vector<float> values(199);  // 0, 0.5, ... 99: every second one, and both ends
  for (size_t i = 0; i < values.size(); ++i) values[198 - i] = static_cast<float>(i) / 2;
  std::vector<float> expected(100);
  for (size_t i = 0; i < expected.size(); ++i) expected[i] = static_cast<float>(i);
  EXPECT_EQ(find_quantiles(values, 100), expected);
  values.push_back(1000);  // 200 values: the second quantile lies at 199 / 99 = 2 + 1/99
  const std::vector<float> others = find_quantiles(values, 100);
  ASSERT_EQ(others.size(), 100U);
  EXPECT_EQ(others.front(), 0);
  EXPECT_FLOAT_EQ(others[1], static_cast<float>(1 + 0.5 / 99));
  EXPECT_EQ(others.back(), 1000);
}

// Many values are sorted in another way than few.
TEST(QuantilesTest, ManyValuesOfEverySizeAndSignAreSortedRight) {
  Array<float> values = {-std::numeric_limits<float>::max(), std::numeric_limits<float>::max(),
                         std::numeric_limits<float>::denorm_min(),
                         -std::numeric_limits<float>::denorm_min(), 0};
  for (int i = 0; i < 20'000; ++i) {
    const auto place = static_cast<float>(i * 7919 % 20'011 - 10'000);  // negative, equal, both
    values.push_back(i % 3 == 0 ? std::floor(place / 100) : place * std::exp2(place / 100));
  }
  std::vector<float> expected(values.begin(), values.end());
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(find_quantiles(values, values.size()), expected);
}

TEST(QuantilesTest, APlaceLiesBetweenQuantilesInProportionAndWithinTheEnds) {
  const std::vector<float> quantiles = {0, 1, 3, 11, 12};  // ranks -1, -0.5, 0, 0.5, 1
  const std::vector<std::pair<float, float>> ranks = {
      {-7, -1},    {0, -1},    {0.5F, -0.75F}, {1, -0.5F}, {2, -0.25F}, {3, 0},
      {5, 0.125F}, {11, 0.5F}, {11.5F, 0.75F}, {12, 1},    {1e30F, 1}};
  for (const auto& [value, expected] : ranks) {
    EXPECT_EQ(rank(quantiles, value), expected) << value;
  }
}

TEST(QuantilesTest, EqualQuantilesShareTheMiddleOfTheirPlaces) {
  const std::vector<float> quantiles = {0, 0, 0, 4, 8, 8, 9};  // ranks -1, -2/3, ... 1
  EXPECT_FLOAT_EQ(rank(quantiles, 0), -2.0F / 3);
  EXPECT_FLOAT_EQ(rank(quantiles, -1), -1);
  EXPECT_FLOAT_EQ(rank(quantiles, 2), -1.0F / 6);  // half way from the third to the fourth
  EXPECT_FLOAT_EQ(rank(quantiles, 8), 0.5F);
  EXPECT_FLOAT_EQ(rank(quantiles, 9), 1);
  EXPECT_EQ(rank(std::vector<float>{7, 7, 7}, 7), 0);
  EXPECT_EQ(rank(std::vector<float>{7, 7, 7}, 8), 0);
  EXPECT_EQ(rank(std::vector<float>{7}, 8), 0);
}

// Values from Python's statistics.NormalDist().inv_cdf.
TEST(QuantilesTest, NormalQuantilesAreExact) {
  const std::vector<std::pair<double, double>> known = {{1e-7, -5.199337582192817},
                                                        {0.001, -3.090232306167813},
                                                        {0.025, -1.9599639845400538},
                                                        {0.3, -0.5244005127080407},
                                                        {0.5, 0},
                                                        {0.9, 1.2815515655446008},
                                                        {1 - 1e-7, 5.199337582290662}};
  for (const auto& [p, z] : known) EXPECT_NEAR(normal_quantile(p), z, 1e-9) << p;
}

TEST(QuantilesTest, ANormalScoreIsTheNormalQuantileOfTheRank) {
  const std::vector<float> quantiles = {0, 1, 3, 3, 12};
  const auto end = static_cast<float>(normal_quantile(1 - 1e-7));
  EXPECT_FLOAT_EQ(normal_score(quantiles, -7), -end);
  EXPECT_FLOAT_EQ(normal_score(quantiles, 0), -end);
  EXPECT_FLOAT_EQ(normal_score(quantiles, 1), static_cast<float>(normal_quantile(0.25)));
  EXPECT_FLOAT_EQ(normal_score(quantiles, 3), static_cast<float>(normal_quantile(0.625)));
  EXPECT_FLOAT_EQ(normal_score(quantiles, 12), end);
  // In proportion between the second and the third.
  EXPECT_FLOAT_EQ(normal_score(quantiles, 2), static_cast<float>(normal_quantile(0.25) / 2));
  EXPECT_EQ(normal_score({7}, 8), 0);
  EXPECT_NEAR(normal_score({7, 7, 7}, 7), 0, 1e-9);
}

TEST(QuantilesTest, NormalScoresOfManyValuesHaveMeanZeroAndDeviationOne) {
  std::vector<float> values;
  for (int i = 0; i < 6000; ++i) values.push_back(std::exp(static_cast<float>(i % 997) / 100));
  EXPECT_EQ(max_quantiles(QuantileScore::kNormal, values.size()), 200U);
  const std::vector<float> quantiles = find_quantiles(values, 200);
  const QuantileScale scale(quantiles, QuantileScore::kNormal);
  double sum = 0;
  double squares = 0;
  for (const float value : values) {
    const double z = scale(value);
    sum += z;
    squares += z * z;
  }
  EXPECT_NEAR(sum / 6000, 0, 0.01);
  EXPECT_NEAR(squares / 6000, 1, 0.1);
}

TEST(QuantilesTest, TheEndsOfANormalDistributionNeedMoreQuantiles) {
  EXPECT_EQ(max_quantiles(QuantileScore::kRank, 1'000'000), 100U);
  EXPECT_EQ(max_quantiles(QuantileScore::kNormal, 50), 10U);
  EXPECT_EQ(max_quantiles(QuantileScore::kNormal, 1'000'000), 1000U);
}

TEST(QuantilesTest, AScoreHasAValueThatHasIt) {
  const std::vector<float> quantiles = {0, 1, 3, 3, 3, 11, 12};
  for (const QuantileScore score : {QuantileScore::kRank, QuantileScore::kNormal}) {
    const QuantileScale scale(quantiles, score);
    for (const float value : {0.0F, 0.25F, 1.0F, 2.0F, 3.0F, 4.0F, 11.5F, 12.0F}) {
      EXPECT_NEAR(scale.value_of(scale(value)), value, 1e-4) << value;
    }
    EXPECT_NEAR(scale.value_of(scale(-5)), 0, 1e-6);
    EXPECT_EQ(scale.value_of(scale(50)), 12);
  }
  EXPECT_EQ(QuantileScale(std::vector<float>{7, 7}, QuantileScore::kRank).value_of(0), 7);
}

}  // namespace
}  // namespace trainer::data
