// SPDX-License-Identifier: Apache-2.0

#include "trainer/train/trials.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "support/sessions.h"
#include "support/tensors.h"

namespace trainer::train {
namespace {

data::Datasets small_data(const config::Config& config) {
  return data::load_datasets(config.data, static_cast<uint64_t>(config.seed));
}

TEST(DeviceTrialTest, ADeviceThatComputesAsTheCpuHasNoProblem) {
  for (const auto norm : {config::Norm::kNone, config::Norm::kLayer, config::Norm::kBatch}) {
    config::Config config = test::small_config();
    config.model.norm = norm;
    config.model.dropout = 0.3;
    EXPECT_EQ(find_device_problem(config, small_data(config), test::test_device()), "");
  }
}

TEST(DeviceTrialTest, EmbeddingsAreCheckedToo) {
  const test::TemporaryFolder folder;
  const config::Config config = test::embedding_config(folder, 60);
  EXPECT_EQ(find_device_problem(config, small_data(config), test::test_device()), "");
}

TEST(DeviceTrialTest, StepsAreTimedAndTheirLossIsThatOfTheCpu) {
  const config::Config config = test::small_config();
  std::vector<DeviceTrial> trials = {{test::test_device(), config::Precision::kFp32}};
  time_devices(config, small_data(config), trials);
  EXPECT_EQ(trials[0].problem, "");
  EXPECT_GT(trials[0].step_seconds, 0);
  EXPECT_LT(trials[0].loss_difference, 1e-3);
}

TEST(DeviceTrialTest, OfEquallyFastOnesTheFirstIsTaken) {
  std::vector<DeviceTrial> trials(3);
  trials[0].step_seconds = 1.04;
  trials[1].step_seconds = 1;
  trials[2].step_seconds = 0.1;
  trials[2].problem = "wrong";
  EXPECT_EQ(find_fastest(trials), trials.data());
  trials[0].step_seconds = 1.06;
  EXPECT_EQ(find_fastest(trials), &trials[1]);
  trials.erase(trials.begin(), trials.begin() + 2);
  EXPECT_EQ(find_fastest(trials), nullptr);
}

TEST(ThreadTrialsTest, TheFewestThreadsThatAreNearlyAsFastAreTaken) {
  EXPECT_EQ(min_fast_threads({{1, 2.0}}), 1);
  EXPECT_EQ(min_fast_threads({{1, 1.05}, {2, 1.0}}), 1);
  EXPECT_EQ(min_fast_threads({{1, 2.0}, {2, 1.05}, {4, 1.0}, {8, 3.0}}), 2);
  EXPECT_EQ(min_fast_threads({{1, 4.0}, {2, 2.0}, {4, 1.0}}), 4);
}

TEST(ThreadTrialsTest, TrialsAreCloseIfASecondNumberIsNearlyAsFast) {
  EXPECT_TRUE(are_close({{1, 1.48}, {2, 1.60}}));
  EXPECT_TRUE(are_close({{1, 4.0}, {2, 1.2}, {4, 1.0}}));
  EXPECT_FALSE(are_close({{1, 1.48}, {2, 0.77}}));
  EXPECT_FALSE(are_close({{1, 1.0}}));
  EXPECT_FALSE(are_close({}));
}

TEST(ThreadTrialsTest, CloseTrialsAreRepeatedAndTheShorterTimesKept) {
  std::vector<ThreadTrial> trials = {{1, 1.35}, {2, 1.48}};
  repeat_close_trials(trials, [](int64_t num_threads) { return num_threads == 1 ? 1.4 : 0.9; });
  EXPECT_EQ(trials[0].step_seconds, 1.35);
  EXPECT_EQ(trials[1].step_seconds, 0.9);
  EXPECT_EQ(min_fast_threads(trials), 2);
  repeat_close_trials(trials, [](int64_t) { return 0.1; });
  EXPECT_EQ(trials[0].step_seconds, 1.35) << "no longer close";
}

TEST(ThreadTrialsTest, TrialsGoUpFromOneThreadAndChangeNoResult) {
  const auto tried = test::make_small_session(test::small_config());
  const auto other = test::make_small_session(test::small_config());
  const std::vector<ThreadTrial> trials = try_threads(*tried, 3);
  ASSERT_FALSE(trials.empty());
  // A step that takes long, as on a machine that is busy, is tried with all threads and no others.
  const bool is_long = trials.size() == 1 && trials.front().step_seconds > 0.05;
  int64_t expected = is_long ? 3 : 1;
  for (const ThreadTrial& trial : trials) {
    EXPECT_EQ(trial.num_threads, expected);
    EXPECT_GT(trial.step_seconds, 0);
    expected = std::min<int64_t>(2 * expected, 3);
  }
  for (int i = 0; i < 10; ++i) {
    test::make_step(*tried);
    test::make_step(*other);
  }
  EXPECT_TRUE(test::identical(tried->model.parameters().values, other->model.parameters().values));
}

}  // namespace

}  // namespace trainer::train
