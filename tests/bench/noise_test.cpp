// SPDX-License-Identifier: Apache-2.0
#include "devices/noise.h"

#include <vector>

#include <gtest/gtest.h>

#include "bench/rows.h"

namespace trainer::bench {
namespace {

// Relative to a row whose rounds all take 1 ms.
Row with_ratios(std::vector<double> ratios) { return with_rounds(make_row(1), std::move(ratios)); }

Row steady(std::size_t num_rounds = 10) {
  return with_ratios(std::vector<double>(num_rounds, 1.0));
}

TEST(NoiseTest, RatiosAreTakenRoundByRound) {
  // The machine became twice as slow in the middle, for both.
  const Row a = with_ratios({2, 2, 2, 2, 2, 4, 4, 4, 4, 4});
  const Row b = with_ratios({1, 1, 1, 1, 1, 2, 2, 2, 2, 2});
  const RelativeTime time = relative_time(a, b);
  EXPECT_DOUBLE_EQ(time.median, 2);
  EXPECT_DOUBLE_EQ(time.low, 2);
  EXPECT_DOUBLE_EQ(time.high, 2);
  EXPECT_EQ(compare_speed(a, b), Order::kSlower);
  EXPECT_EQ(compare_speed(b, a), Order::kFaster);
}

TEST(NoiseTest, OneRoundOfTenMayContradict) {
  EXPECT_EQ(compare_speed(with_ratios({2, 2, 2, 2, 2, 2, 2, 2, 2, 0.1}), steady()), Order::kSlower);
  EXPECT_EQ(compare_speed(with_ratios({2, 2, 2, 2, 2, 2, 2, 2, 0.1, 0.1}), steady()),
            Order::kUnclear);
}

TEST(NoiseTest, OfFiveRoundsNoneMayContradict) {
  EXPECT_EQ(compare_speed(with_ratios({2, 2, 2, 2, 2}), steady(5)), Order::kSlower);
  EXPECT_EQ(compare_speed(with_ratios({2, 2, 2, 2, 0.9}), steady(5)), Order::kUnclear);
}

TEST(NoiseTest, TheIntervalLeavesOutAsManyRoundsAsChanceAllows) {
  std::vector<double> ratios;
  for (int i = 1; i <= 30; ++i) ratios.push_back(i);
  const RelativeTime time = relative_time(with_ratios(ratios), steady(30));
  EXPECT_DOUBLE_EQ(time.low, 10);  // the table of the sign test: 9 of 30
  EXPECT_DOUBLE_EQ(time.median, 15.5);
  EXPECT_DOUBLE_EQ(time.high, 21);
}

TEST(NoiseTest, DifferencesWithinFivePercentCountAsEqual) {
  EXPECT_EQ(compare_speed(with_ratios(std::vector<double>(10, 1.04)), steady()), Order::kEqual);
  EXPECT_EQ(compare_speed(with_ratios(std::vector<double>(10, 1.06)), steady()), Order::kSlower);
  EXPECT_EQ(compare_speed(with_ratios(std::vector<double>(10, 0.96)), steady()), Order::kEqual);
  EXPECT_EQ(compare_speed(with_ratios(std::vector<double>(10, 0.94)), steady()), Order::kFaster);
  EXPECT_EQ(compare_speed(with_ratios({0.8, 0.8, 0.9, 1, 1, 1, 1, 1.1, 1.2, 1.2}), steady()),
            Order::kUnclear);
}

TEST(NoiseTest, RowsOfABusyMachineAreIncomparable) {
  const std::vector<Row> rows = {steady(), on_busy_machine(steady(), 0.11)};
  EXPECT_EQ(why_incomparable(rows),
            "other programs used the CPU (steps waited for it 11 % of the time)");
  const std::vector<Row> quiet = {steady(), on_busy_machine(steady(), 0.09)};
  EXPECT_EQ(why_incomparable(quiet), "");
}

TEST(NoiseTest, WhatOtherProgramsTakeMayBeUnknown) {
  Row row = steady();
  row.lost_share.reset();
  EXPECT_EQ(why_incomparable({&row, 1}), "");
}

TEST(NoiseTest, FewRoundsAreIncomparable) {
  const std::vector<Row> rows = {steady(4), steady(4)};
  EXPECT_EQ(why_incomparable(rows), "4 rounds cannot show the noise; use --steps 5 or more");
}

TEST(NoiseTest, ARowIsUnsteadyIfHalfOfItsRoundsAreFarApart) {
  EXPECT_EQ(why_unsteady(with_ratios({1, 1, 1, 1, 1, 1, 1, 1, 1, 9})), "");
  EXPECT_EQ(why_unsteady(with_ratios({1, 1, 1, 1.5, 1.5, 1.5, 1.5, 2, 2, 2})),
            "the times of cpu_fp32 changed by 50 % from round to round");
}

}  // namespace
}  // namespace trainer::bench
