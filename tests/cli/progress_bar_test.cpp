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
  EXPECT_EQ(progress_text(half_of_epoch_two(), 1.5, 120),
            "epoch 2/4 [##########----------]  50 %  1,000 samples/s  loss 0.1250  2.5 s left");
}

TEST(ProgressBarTest, LeavesTheLossOutBeforeThereIsOne) {
  run::Progress progress = half_of_epoch_two();
  progress.loss = std::nan("");
  EXPECT_EQ(progress_text(progress, 1.5, 120),
            "epoch 2/4 [##########----------]  50 %  1,000 samples/s  2.5 s left");
}

TEST(ProgressBarTest, IsShorterThanTheTerminalIsWideAndKeepsTheTimeLeft) {
  const run::Progress progress = half_of_epoch_two();
  EXPECT_EQ(progress_text(progress, 1.5, 80),
            "epoch 2/4 [####----]  50 %  1,000 samples/s  loss 0.1250  2.5 s left");
  EXPECT_EQ(progress_text(progress, 1.5, 60),
            "epoch 2/4  50 %  1,000 samples/s  loss 0.1250  2.5 s left");
  EXPECT_EQ(progress_text(progress, 1.5, 50), "epoch 2/4  50 %  loss 0.1250  2.5 s left");
  EXPECT_EQ(progress_text(progress, 1.5, 30), "epoch 2/4  50 %  2.5 s left");
  EXPECT_EQ(progress_text(progress, 1.5, 21), "epoch 2/4  50 %");
  EXPECT_EQ(progress_text(progress, 1.5, 10), "epoch 2/4");
  EXPECT_EQ(progress_text(progress, 1.5, 0), "e");
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
