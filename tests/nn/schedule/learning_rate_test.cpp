// SPDX-License-Identifier: Apache-2.0

#include "trainer/nn/schedule/learning_rate.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/config/training_config.h"

namespace trainer::schedule {
namespace {

using config::ScheduleName;

// Rates of the steps 0, 1, ... and of one after the last.
std::vector<double> rates(const ScheduleOptions& options) {
  std::vector<double> result;
  for (int64_t step = 0; step <= options.total_steps; ++step) {
    result.push_back(learning_rate(options, step));
  }
  return result;
}

void expect_rates(const ScheduleOptions& options, const std::vector<double>& expected) {
  const std::vector<double> actual = rates(options);
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    EXPECT_NEAR(actual[i], expected[i], 1e-15) << "step " << i;
  }
}

TEST(ScheduleTest, ConstantStaysAtThePeak) {
  expect_rates({ScheduleName::kConstant, 0.5, 0, 3, 0.1}, {0.5, 0.5, 0.5, 0.5});
}

TEST(ScheduleTest, WarmUpRisesToThePeakInItsLastStep) {
  expect_rates({ScheduleName::kConstant, 0.8, 4, 6, 0}, {0.2, 0.4, 0.6, 0.8, 0.8, 0.8, 0.8});
}

TEST(ScheduleTest, LinearFallsToItsFinalFactorAfterTheLastStep) {
  expect_rates({ScheduleName::kLinear, 1, 0, 4, 0}, {1, 0.75, 0.5, 0.25, 0});
  expect_rates({ScheduleName::kLinear, 2, 0, 4, 0.5}, {2, 1.75, 1.5, 1.25, 1});
}

TEST(ScheduleTest, CosineFallsToItsFinalFactorAfterTheLastStep) {
  const double high = (1 + std::sqrt(0.5)) / 2;
  const double low = (1 - std::sqrt(0.5)) / 2;
  expect_rates({ScheduleName::kCosine, 1, 0, 4, 0}, {1, high, 0.5, low, 0});
  expect_rates({ScheduleName::kCosine, 1, 0, 2, 0.2}, {1, 0.6, 0.2});
}

TEST(ScheduleTest, TheFallBeginsAfterTheWarmUpAtThePeak) {
  expect_rates({ScheduleName::kLinear, 1, 2, 6, 0}, {0.5, 1, 1, 0.75, 0.5, 0.25, 0});
  expect_rates({ScheduleName::kCosine, 1, 2, 4, 0}, {0.5, 1, 1, 0.5, 0});
}

TEST(ScheduleTest, AWarmUpOfAllStepsNeverFalls) {
  for (const ScheduleName name : {ScheduleName::kLinear, ScheduleName::kCosine}) {
    expect_rates({name, 1, 4, 4, 0}, {0.25, 0.5, 0.75, 1, 1});
  }
}

TEST(ScheduleTest, ASingleStepIsAtThePeak) {
  for (const ScheduleName name :
       {ScheduleName::kConstant, ScheduleName::kLinear, ScheduleName::kCosine}) {
    EXPECT_EQ(learning_rate({name, 0.3, 0, 1, 0}, 0), 0.3);
    EXPECT_EQ(learning_rate({name, 0.3, 1, 1, 0}, 0), 0.3);
  }
}

TEST(ScheduleTest, StaysAtItsFinalFactorBeyondTheEnd) {
  EXPECT_EQ(learning_rate({ScheduleName::kLinear, 1, 0, 4, 0.25}, 100), 0.25);
  EXPECT_DOUBLE_EQ(learning_rate({ScheduleName::kCosine, 1, 0, 4, 0.25}, 100), 0.25);
}

TEST(ScheduleTest, AFinalFactorOfOneIsConstant) {
  for (const ScheduleName name : {ScheduleName::kLinear, ScheduleName::kCosine}) {
    expect_rates({name, 0.5, 0, 3, 1}, {0.5, 0.5, 0.5, 0.5});
  }
}

TEST(ScheduleTest, StepFallsAfterEveryDropSteps) {
  ScheduleOptions options{ScheduleName::kStep, 0.5, 0, 6, 0};
  options.drop_steps = 2;
  options.gamma = 0.5;
  expect_rates(options, {0.5, 0.5, 0.25, 0.25, 0.125, 0.125, 0.0625});
  options.warmup_steps = 2;
  expect_rates(options, {0.25, 0.5, 0.5, 0.5, 0.25, 0.25, 0.125});
}

TEST(ScheduleTest, OneCycleRisesToThePeakAndFallsToItsFinalFactorInTheLastStep) {
  ScheduleOptions options{ScheduleName::kOneCycle, 1, 0, 6, 0.2};
  options.rise_fraction = 0.5;
  options.initial_factor = 0.4;
  expect_rates(options, {0.4, 0.7, 1, 0.8, 0.4, 0.2, 0.2});
}

TEST(ScheduleTest, OneCycleCanBeginOrEndAtThePeak) {
  ScheduleOptions options{ScheduleName::kOneCycle, 1, 0, 3, 0};
  options.initial_factor = 0;
  options.rise_fraction = 1.0 / 3;
  expect_rates(options, {1, 0.5, 0, 0});
  options.rise_fraction = 1;
  expect_rates(options, {0, 0.5, 1, 1});
}

TEST(ScheduleTest, ReductionsStopAtTheLeastRate) {
  ScheduleOptions options{ScheduleName::kReduceOnPlateau, 0.5, 2, 10, 0};
  options.gamma = 0.25;
  options.min_rate = 0.01;
  EXPECT_EQ(learning_rate(options, 0, 0), 0.25);  // warm-up
  EXPECT_EQ(learning_rate(options, 2, 0), 0.5);
  EXPECT_EQ(learning_rate(options, 2, 1), 0.125);
  EXPECT_EQ(learning_rate(options, 9, 2), 0.03125);
  EXPECT_EQ(learning_rate(options, 9, 3), 0.01);
}

TEST(ScheduleTest, CoslogBeginsAndEndsEachCycleAtZero) {
  ScheduleOptions options{ScheduleName::kCoslog, 0.5, 0, 15, 0};
  for (const int64_t step : {0, 1, 3, 7, 15}) EXPECT_NEAR(learning_rate(options, step), 0, 1e-12);
  EXPECT_NEAR(learning_rate(options, 5), 0.5 * (1 - std::cos(2 * M_PI * std::log2(6))) / 2, 1e-12);
}

TEST(ScheduleTest, FlatCosineFallsInTheSecondHalf) {
  using config::FactorSchedule;
  const std::vector<double> expected = {1, 1, 1, 0.75, 0.25, 0, 0};
  const std::vector<int64_t> steps = {0, 2, 3, 4, 5, 6, 7};
  for (std::size_t i = 0; i < steps.size(); ++i) {
    EXPECT_NEAR(schedule_factor(FactorSchedule::kFlatCosine, steps[i], 6), expected[i], 1e-12);
    EXPECT_EQ(schedule_factor(FactorSchedule::kConstant, steps[i], 6), 1);
  }
}

TEST(ScheduleTest, AShortLastStepCanBeLeftOut) {
  config::TrainingConfig training;
  training.batch_size = 32;
  EXPECT_EQ(steps_per_epoch(training, 100), 4);
  EXPECT_EQ(samples_per_epoch(training, 100), 100);
  training.drop_last = true;
  EXPECT_EQ(steps_per_epoch(training, 100), 3);
  EXPECT_EQ(samples_per_epoch(training, 100), 96);
  EXPECT_EQ(samples_per_epoch(training, 20), 20);  // fewer rows than a batch
}

TEST(ScheduleTest, OptionsCountSteps) {
  config::TrainingConfig training;
  training.epochs = 5;
  training.batch_size = 8;
  training.gradient_accumulation_steps = 3;
  training.learning_rate = 0.25;
  training.schedule = {.name = ScheduleName::kStep, .warmup_epochs = 1.5, .step_epochs = 2};
  EXPECT_EQ(samples_per_step(training, 1000), 24);
  EXPECT_EQ(steps_per_epoch(training, 100), 5);
  const ScheduleOptions options = schedule_options(training, 100);
  EXPECT_EQ(options.name, ScheduleName::kStep);
  EXPECT_EQ(options.peak, 0.25);
  EXPECT_EQ(options.warmup_steps, 8);
  EXPECT_EQ(options.total_steps, 25);
  EXPECT_EQ(options.drop_steps, 10);
}

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
