// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/device_trial.h"

#include <gtest/gtest.h>

#include "support/sessions.h"

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

}  // namespace
}  // namespace trainer::train
