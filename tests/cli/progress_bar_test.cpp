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

}  // namespace
}  // namespace trainer::cli
