// SPDX-License-Identifier: Apache-2.0
#include "trainer/nn/schedule/plateau.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/config/training_config.h"

namespace trainer::schedule {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

ScheduleOptions halving() {
  ScheduleOptions options;
  options.name = config::ScheduleName::kReduceOnPlateau;
  options.peak = 1;
  options.gamma = 0.5;
  return options;
}

// Reductions after each of the epochs.
std::vector<int64_t> reductions(const std::vector<double>& metrics, Better better,
                                const config::ScheduleConfig& schedule,
                                const ScheduleOptions& options = halving()) {
  std::vector<int64_t> result;
  PlateauState state;
  for (const double metric : metrics) {
    state = after_epoch(state, metric, better, schedule, options);
    result.push_back(state.num_reductions);
  }
  return result;
}

using Counts = std::vector<int64_t>;

TEST(PlateauTest, OneEpochMoreThanPatienceReducesTheRate) {
  EXPECT_EQ(reductions({3, 2, 2, 2, 2, 2, 2, 1}, Better::kLower, {.patience = 2}),
            (Counts{0, 0, 0, 0, 1, 1, 1, 1}));
}

TEST(PlateauTest, LargerIsBetterWhereItIsSaidSo) {
  EXPECT_EQ(reductions({1, 2, 1, 3, 1, 1}, Better::kHigher, {.patience = 1}),
            (Counts{0, 0, 0, 0, 0, 1}));
}

TEST(PlateauTest, TheThresholdIsAPartOfTheBestValue) {
  EXPECT_EQ(reductions({100, 91, 89}, Better::kLower, {.patience = 0, .threshold = 0.1}),
            (Counts{0, 1, 1}));
}

TEST(PlateauTest, ANegativeValueCanBeBetterToo) {
  EXPECT_EQ(reductions({-1, -1, -0.8}, Better::kHigher, {.patience = 0, .threshold = 0.1}),
            (Counts{0, 1, 1}));
  EXPECT_EQ(reductions({-1, -1, -1.2}, Better::kLower, {.patience = 0, .threshold = 0.1}),
            (Counts{0, 1, 1}));
}

TEST(PlateauTest, EpochsOfACooldownAreNeverBad) {
  EXPECT_EQ(reductions({1, 1, 1, 1, 1, 1, 1}, Better::kLower, {.patience = 0, .cooldown = 2}),
            (Counts{0, 1, 1, 1, 2, 2, 2}));
}

TEST(PlateauTest, WhatIsNotFiniteIsBadAndNeverTheBest) {
  EXPECT_EQ(reductions({std::nan(""), -kInfinity, 5, 4}, Better::kLower, {.patience = 1}),
            (Counts{0, 1, 1, 1}));
}

TEST(PlateauTest, ARateThatIsAtItsLeastIsNotReduced) {
  ScheduleOptions options = halving();
  options.min_rate = 0.4;
  EXPECT_EQ(reductions({1, 1, 1, 1}, Better::kLower, {.patience = 0}, options),
            (Counts{0, 1, 2, 2}));
}

}  // namespace
}  // namespace trainer::schedule
