// SPDX-License-Identifier: Apache-2.0
#include "trainer/nn/schedule/overview.h"

#include <vector>

#include <gtest/gtest.h>

#include "trainer/config/training_config.h"

namespace trainer::schedule {
namespace {

using config::ScheduleName;

config::TrainingConfig training(int64_t epochs, const config::ScheduleConfig& schedule = {}) {
  config::TrainingConfig training;
  training.epochs = epochs;
  training.batch_size = 10;
  training.learning_rate = 0.5;
  training.schedule = schedule;
  return training;
}

std::vector<int64_t> epochs(const std::vector<Segment>& segments) {
  std::vector<int64_t> epochs;
  for (const Segment& segment : segments) epochs.push_back(segment.epoch);
  return epochs;
}

TEST(OverviewTest, CountsRowsAndSteps) {
  config::TrainingConfig options = training(3, {.warmup_epochs = 0.5});
  options.gradient_accumulation_steps = 2;
  const ScheduleOverview overview = make_overview(options, 67);
  EXPECT_EQ(overview.samples_per_step, 20);
  EXPECT_EQ(overview.steps_per_epoch, 4);
  EXPECT_EQ(overview.samples_of_last_step, 7);
  EXPECT_EQ(overview.schedule.total_steps, 12);
  EXPECT_EQ(overview.schedule.warmup_steps, 2);
  EXPECT_TRUE(overview.first_reductions.empty());
}

TEST(OverviewTest, EpochsFollowEachOther) {
  const auto segments =
      epoch_segments(make_overview(training(2, {.name = ScheduleName::kLinear}), 40));
  ASSERT_EQ(segments.size(), 2U);
  EXPECT_EQ(segments[0].epoch, 1);
  EXPECT_EQ(segments[0].first_step, 1);
  EXPECT_EQ(segments[0].last_step, 4);
  EXPECT_EQ(segments[0].first_rate, 0.5);
  EXPECT_EQ(segments[0].last_rate, 0.3125);
  EXPECT_EQ(segments[1].epoch, 2);
  EXPECT_EQ(segments[1].first_step, 5);
  EXPECT_EQ(segments[1].last_step, 8);
  EXPECT_EQ(segments[1].first_rate, 0.25);
  EXPECT_EQ(segments[1].last_rate, 0.0625);
}

TEST(OverviewTest, FewEpochsAreShownInSegments) {
  const auto segments = summary_segments(make_overview(training(2), 50), 6);
  ASSERT_EQ(segments.size(), 6U);  // three of each five steps
  EXPECT_EQ(epochs(segments), (std::vector<int64_t>{1, 1, 1, 2, 2, 2}));
  EXPECT_EQ(segments[0].first_step, 1);
  EXPECT_EQ(segments[0].last_step, 1);
  EXPECT_EQ(segments[1].last_step, 3);
  EXPECT_EQ(segments[2].last_step, 5);
  EXPECT_EQ(segments[3].first_step, 6);
  EXPECT_EQ(segments[5].last_step, 10);
}

TEST(OverviewTest, AnEpochOfOneStepIsOneSegment) {
  EXPECT_EQ(epochs(summary_segments(make_overview(training(2), 3), 6)),
            (std::vector<int64_t>{1, 2}));
}

TEST(OverviewTest, EpochsThatFitAreAllShown) {
  EXPECT_EQ(epochs(summary_segments(make_overview(training(4), 50), 6)),
            (std::vector<int64_t>{1, 2, 3, 4}));
}

TEST(OverviewTest, OfManyEpochsTheOneWhereTheRiseEndsIsShown) {
  EXPECT_EQ(epochs(summary_segments(make_overview(training(100), 50), 5)),
            (std::vector<int64_t>{1, 25, 50, 75, 100}));
  EXPECT_EQ(epochs(summary_segments(make_overview(training(100, {.warmup_epochs = 3.5}), 50), 5)),
            (std::vector<int64_t>{1, 4, 34, 67, 100}));
  EXPECT_EQ(epochs(summary_segments(
                make_overview(training(100, {.name = ScheduleName::kOneCycle}), 50), 3)),
            (std::vector<int64_t>{1, 30, 100}));
}

TEST(OverviewTest, TellsWhenAPlateauCouldReduceTheRate) {
  config::ScheduleConfig schedule{
      .name = ScheduleName::kReduceOnPlateau, .warmup_epochs = 1, .patience = 2};
  EXPECT_EQ(make_overview(training(10, schedule), 50).first_reductions,
            (std::vector<int64_t>{25, 40}));
  EXPECT_TRUE(make_overview(training(5, schedule), 50).first_reductions.empty());
}

TEST(OverviewTest, TellsWhenStepReducesTheRate) {
  config::ScheduleConfig schedule{
      .name = ScheduleName::kStep, .warmup_epochs = 0.4, .step_epochs = 3};
  EXPECT_EQ(make_overview(training(10, schedule), 50).first_reductions,
            (std::vector<int64_t>{17, 32, 47}));
  EXPECT_EQ(make_overview(training(100, schedule), 50).first_reductions.size(), kMaxReductions);
  EXPECT_TRUE(make_overview(training(3, schedule), 50).first_reductions.empty());
}

}  // namespace
}  // namespace trainer::schedule
