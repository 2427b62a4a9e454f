// SPDX-License-Identifier: Apache-2.0

#include "cli/live_view.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/base/text/text_table.h"

namespace trainer::cli {
namespace {

run::EpochRecord make_epoch(int64_t number, double loss) {
  run::EpochRecord epoch;
  epoch.epoch = number;
  epoch.train = {.loss = loss, .accuracy = 0.5};
  epoch.validation = run::EpochSummary{.loss = loss + 1, .accuracy = 0.25};
  epoch.time_seconds = 0.012;
  return epoch;
}

TEST(LiveViewTest, AnEpochIsALine) {
  EXPECT_EQ(epoch_line(make_epoch(3, 0.5), 20),
            "epoch  3/20  train 0.5000 50.00 %  val 1.5000 25.00 %  12 ms");
  run::EpochRecord epoch = make_epoch(3, 0.5);
  epoch.validation.reset();
  epoch.train.loss.reset();
  EXPECT_EQ(epoch_line(epoch, 3), "epoch 3/3  train not finite 50.00 %  12 ms");
}

TEST(LiveViewTest, ShowsTheCurveAndTheLastEpochsWithinTheTerminal) {
  tracking::RunEntry entry;
  entry.name = "20260102_030405_iris";
  entry.state = tracking::State::kRunning;
  entry.epochs = 100;
  entry.planned_epochs = 200;
  entry.seconds = 50;
  run::History history;
  for (int64_t i = 1; i <= 100; ++i) {
    history.epochs.push_back(make_epoch(i, 1 / static_cast<double>(i)));
  }
  const std::vector<std::string> lines = live_view(entry, history, 60, Ink::kAscii);
  ASSERT_EQ(lines.size(), 14U);
  EXPECT_EQ(lines[0], "20260102_030405_iris  running  epoch 100/200, 50.0 s, 50....");
  EXPECT_EQ(lines[1], "     1.7500 #");
  EXPECT_TRUE(lines[8].starts_with("     1.0101 ##")) << lines[8];
  EXPECT_EQ(lines[13], "epoch 100/200  train 0.0100 50.00 %  val 1.0100 25.00 %  ...");
  for (const std::string& line : lines) EXPECT_LE(display_width(line), 60U) << line;
}

TEST(LiveViewTest, BeforeTheFirstEpochThereIsALine) {
  tracking::RunEntry entry;
  entry.name = "a";
  entry.state = tracking::State::kFailed;
  entry.reason = "out of memory";
  EXPECT_EQ(live_view(entry, {}, 60, Ink::kAscii),
            (std::vector<std::string>{"a  failed (out of memory)  epoch 0/0, -"}));
}

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
