// SPDX-License-Identifier: Apache-2.0
#include "cli/curve.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace trainer::cli {
namespace {

using Lines = std::vector<std::string>;

TEST(CurveTest, TheLargestValueFillsAllLines) {
  const std::vector<double> values = {0, 1, 2, 4, 3};
  EXPECT_EQ(draw_curve(values, 2, Ink::kBlocks), (Lines{"   █▄", " ▄███"}));
  EXPECT_EQ(draw_curve(values, 2, Ink::kAscii), (Lines{"   #:", " :###"}));
}

TEST(CurveTest, NoValueAboveZeroIsInvisible) {
  const std::vector<double> values = {1, 1e-6, 0};
  EXPECT_EQ(draw_curve(values, 1, Ink::kBlocks), (Lines{"█▁"}));
  EXPECT_EQ(draw_curve(values, 1, Ink::kAscii), (Lines{"#."}));
}

TEST(CurveTest, NothingIsDrawnForNothing) {
  EXPECT_EQ(draw_curve(std::vector<double>{0, 0}, 2, Ink::kAscii), (Lines{"", ""}));
  EXPECT_EQ(draw_curve({}, 1, Ink::kAscii), (Lines{""}));
}

}  // namespace
}  // namespace trainer::cli
