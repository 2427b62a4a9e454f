// SPDX-License-Identifier: Apache-2.0
// What holds on every accelerator, real (TRAINER_TEST_DEVICE=cuda) or simulated.
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/device_runs.h"
#include "support/test_accuracy.h"

namespace trainer {
namespace {

using test::ProcessResult;

class AnyDeviceTest : public test::DeviceRuns {
 protected:
  static std::string digits(const std::string& arguments) {
    return test::with_config("train.yaml") + "data.test_fraction=0.4 --epochs 10 " + arguments;
  }
};

INSTANTIATE_TEST_SUITE_P(Devices, AnyDeviceTest, testing::ValuesIn(test::accelerator_names()),
                         [](const auto& device) { return device.param; });

// In fp32 where it has no bf16.
TEST_P(AnyDeviceTest, LearnsDigitsInFp32AndBf16AsTheCpuDoes) {
  const double expected = test::test_accuracy(on_cpu(digits("")).out);
  EXPECT_GT(expected, 95);
  for (const std::string precision : {"fp32", "bf16"}) {
    const ProcessResult result = on_device(digits("device_fallback=true --precision " + precision));
    EXPECT_NEAR(test::test_accuracy(result.out), expected, 1) << result.err;
  }
}

TEST_P(AnyDeviceTest, GoesOnWithTheSameBits) {
  const std::string run = "-q model.norm=batch model.dropout=0.2 training.schedule.name=constant ";
  ASSERT_EQ(on_device(run + "--epochs 3 --output-dir whole").exit_code, 0);
  ASSERT_EQ(on_device(run + "--epochs 1 --output-dir resumed").exit_code, 0);
  ASSERT_EQ(on_device("-q --resume resumed/latest --epochs 3").exit_code, 0);
  EXPECT_EQ(records("resumed"), records("whole"));
}

TEST_P(AnyDeviceTest, HasTheSameBitsWithoutGraphs) {
  const std::string run = "-q --epochs 3 model.norm=batch model.dropout=0.2 ";
  ASSERT_EQ(on_device(run + "--output-dir auto").exit_code, 0);
  ASSERT_EQ(on_device(run + "training.cuda_graphs=off --output-dir off").exit_code, 0);
  EXPECT_EQ(records("auto"), records("off"));
}

// LibTorch 1.13 needs float64 for label smoothing.
TEST_P(AnyDeviceTest, TrainsTheRecipesForTables) {
  for (const std::string recipe : {"realmlp", "tabm"}) {
    const ProcessResult result =
        on_device(fmt::format("-q --epochs 2 recipe={} --output-dir {}", recipe, recipe), "fp64=1");
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.err, "");
  }
}

TEST_P(AnyDeviceTest, WhatItTrainedPredictsAndEvaluatesOnTheCpu) {
  std::string table = "a,b,y\n";
  for (int i = 0; i < 60; ++i) table += fmt::format("{},{},{}\n", i % 7, i % 5, i % 7 > i % 5);
  folder_.write("t.csv", table);
  const std::string run =
      "-q data.source=csv data.path=t.csv data.target=y --epochs 30 training.step=autograd ";
  ASSERT_EQ(on_device(run + "--output-dir device").exit_code, 0);
  ASSERT_EQ(on_cpu(run + "--output-dir cpu").exit_code, 0);
  for (const std::string command : {"predict", "eval"}) {
    const auto result_of = [&](const std::string& runs) {
      return test::trainer_in(folder_.path() / runs,
                              fmt::format("{} latest --data ../t.csv", command));
    };
    const ProcessResult result = result_of("device");
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_FALSE(result.out.empty());
    if (test::has_real_device()) continue;  // whose numbers differ in the last bits
    EXPECT_EQ(result.out, result_of("cpu").out);
  }
}

}  // namespace
}  // namespace trainer
