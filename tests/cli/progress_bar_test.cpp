// SPDX-License-Identifier: Apache-2.0
#include "cli/progress_bar.h"

#include <cmath>

#include <gtest/gtest.h>

namespace trainer::cli {
namespace {

run::Progress half_of_epoch_two() {
  run::Progress progress;
  progress.epoch = 2;
  progress.num_epochs = 4;
  progress.samples = 500;
  progress.num_samples = 1000;
  progress.total_samples = 1500;
  progress.loss = 0.125;
  return progress;
}

TEST(ProgressBarTest, ShowsPlaceRateLossAndTimeLeft) {
  EXPECT_EQ(progress_text(half_of_epoch_two(), {}, 1.5, 120),
            "epoch 2/4 [##########----------]  50 %  1,000 samples/s  loss 0.1250  2.5 s left");
}

TEST(ProgressBarTest, LeavesTheLossOutBeforeThereIsOne) {
  run::Progress progress = half_of_epoch_two();
  progress.loss = std::nan("");
  EXPECT_EQ(progress_text(progress, {}, 1.5, 120),
            "epoch 2/4 [##########----------]  50 %  1,000 samples/s  2.5 s left");
}

TEST(ProgressBarTest, IsShorterThanTheTerminalIsWideAndKeepsTheTimeLeft) {
  const run::Progress progress = half_of_epoch_two();
  EXPECT_EQ(progress_text(progress, {}, 1.5, 80),
            "epoch 2/4 [####----]  50 %  1,000 samples/s  loss 0.1250  2.5 s left");
  EXPECT_EQ(progress_text(progress, {}, 1.5, 60),
            "epoch 2/4  50 %  1,000 samples/s  loss 0.1250  2.5 s left");
  EXPECT_EQ(progress_text(progress, {}, 1.5, 50), "epoch 2/4  50 %  loss 0.1250  2.5 s left");
  EXPECT_EQ(progress_text(progress, {}, 1.5, 30), "epoch 2/4  50 %  2.5 s left");
  EXPECT_EQ(progress_text(progress, {}, 1.5, 21), "epoch 2/4  50 %");
  EXPECT_EQ(progress_text(progress, {}, 1.5, 10), "epoch 2/4");
  EXPECT_EQ(progress_text(progress, {}, 1.5, 0), "e");
}

TEST(ProgressBarTest, NamesTheRunAndHasTheTimeUntilAllRunsAreComplete) {
  const run::Progress progress = half_of_epoch_two();  // 2.5 s left of 4
  EXPECT_EQ(progress_text(progress, {.name = "fold 1/5", .num_left = 4}, 1.5, 80),
            "fold 1/5  epoch 2/4 [####----]  50 %  1,000 samples/s  loss 0.1250  18.5 s left");
  const OtherRuns others{.name = "fold 3/5", .num_left = 2, .mean_seconds = 5};
  EXPECT_EQ(progress_text(progress, others, 1.5, 50), "fold 3/5  epoch 2/4  50 %  12.5 s left");
}

TEST(ProgressBarTest, CountsRunsThatOtherProcessesTrainAtTheSameTime) {
  const OtherRuns others{
      .name = "fold 1/5", .num_left = 4, .num_trained_at_once = 3, .mean_seconds = 5};
  EXPECT_EQ(progress_text(half_of_epoch_two(), others, 1.5, 50),
            "fold 1/5  epoch 2/4  50 %  12.5 s left");
}

TEST(ProgressBarTest, SaysAtMostWhereARunMayStopEarly) {
  run::Progress progress = half_of_epoch_two();
  progress.may_stop_early = true;
  EXPECT_EQ(progress_text(progress, {}, 1.5, 40), "epoch 2/4  50 %  at most 2.5 s left");
}

TEST(ProgressBarTest, ExpectsThatARunStopsAsEarlyAsThoseBefore) {
  run::Progress progress = half_of_epoch_two();
  progress.may_stop_early = true;
  const OtherRuns others{.name = "member 2/3", .num_left = 1, .mean_seconds = 2};
  EXPECT_EQ(progress_text(progress, others, 1.5, 50), "member 2/3  epoch 2/4  50 %  2.5 s left");
  EXPECT_EQ(progress_text(progress, others, 3, 60),
            "member 2/3  epoch 2/4  50 %  at most 7.0 s left");
}

TEST(LongWorkTextTest, HasThePartAndTheTimeLeftAsFarAsTheyFit) {
  EXPECT_EQ(long_work_text("reading the table", 0.25, 3, 80),
            "reading the table  25 %  9.0 s left");
  EXPECT_EQ(long_work_text("reading the table", 0.25, 3, 30), "reading the table  25 %");
  EXPECT_EQ(long_work_text("reading the table", 0.25, 3, 20), "reading the table");
  EXPECT_EQ(long_work_text("reading the table", 0, 3, 80), "reading the table");
}

}  // namespace
}  // namespace trainer::cli
