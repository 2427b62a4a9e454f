// SPDX-License-Identifier: Apache-2.0
// The real program on devices that tests/simulated_device makes.
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/base/text/json.h"

#include "support/device_runs.h"
#include "support/files.h"

namespace trainer {
namespace {

using test::ProcessResult;

class SimulatedDeviceRunTest : public test::DeviceRuns {
 protected:
  void SetUp() override {
    if (test::has_real_device()) GTEST_SKIP() << "it simulates devices: TRAINER_TEST_DEVICE unset";
  }
  // As it is written.
  static std::string device_name() { return GetParam() == "mps" ? "mps" : "cuda:0"; }
};

INSTANTIATE_TEST_SUITE_P(Devices, SimulatedDeviceRunTest,
                         testing::ValuesIn(test::accelerator_names()),
                         [](const auto& device) { return device.param; });

// Its operators are those of the CPU.
TEST_P(SimulatedDeviceRunTest, HasTheRecordsOfTheCpu) {
  const std::string run = "-q --epochs 2 model.norm=batch training.ema_decay=0.9 ";
  ASSERT_EQ(on_device(run + "--output-dir device").exit_code, 0);
  ASSERT_EQ(on_cpu(run + "training.step=autograd --output-dir cpu").exit_code, 0);
  EXPECT_EQ(records("device"), records("cpu"));
}

TEST_P(SimulatedDeviceRunTest, ARunGoesOnWithTheSameBitsAlsoOnAnotherDevice) {
  const std::string run =
      "-q model.norm=layer training.schedule.name=constant training.step=autograd ";
  ASSERT_EQ(on_device(run + "--epochs 3 --output-dir whole").exit_code, 0);
  ASSERT_EQ(on_device(run + "--epochs 1 --output-dir device").exit_code, 0);
  ASSERT_EQ(on_device("-q --resume device/latest --epochs 3").exit_code, 0);
  EXPECT_EQ(records("device"), records("whole"));
  ASSERT_EQ(on_device(run + "--epochs 1 --output-dir moved").exit_code, 0);
  ASSERT_EQ(on_cpu("-q --resume moved/latest --epochs 3").exit_code, 0);
  EXPECT_EQ(records("moved"), records("whole"));
}

TEST_P(SimulatedDeviceRunTest, ABatchThatDoesNotFitIsTakenInParts) {
  const ProcessResult result =
      on_device("--epochs 1 training.batch_size=800 model.hidden_size=64", "max_bytes=400000");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.err.find("out of memory on " + GetParam()), std::string::npos) << result.err;
  EXPECT_NE(result.err.find(" with 800 rows; using micro-batches of 400 rows from now on (same "
                            "result)\n"),
            std::string::npos)
      << result.err;
}

TEST_P(SimulatedDeviceRunTest, AModelThatDoesNotFitEndsWithFive) {
  const ProcessResult result = on_device("-q --epochs 1", "max_buffer_bytes=30000");
  EXPECT_EQ(result.exit_code, 5);
  EXPECT_EQ(result.err,
            "error: out of memory on " + device_name() +
                " for data and model; use a smaller model or data file, device: cpu, or "
                "training.on_out_of_memory: fallback_cpu (Invalid buffer size: 71.06 KB)\n");
}

TEST_P(SimulatedDeviceRunTest, ADeviceThatFailsIsReplacedByTheCpuOrEndsWithFour) {
  const std::string failure = GetParam() == "mps"
                                  ? "MPS: command buffer exited with error status: Internal Error"
                                  : "CUDA error: unspecified launch failure";
  const ProcessResult replaced = on_device("--epochs 1 device_fallback=true", "fail_in=40");
  EXPECT_EQ(replaced.exit_code, 0) << replaced.err;
  EXPECT_NE(replaced.err.find(fmt::format("warning: device {} does not work: {}; using the CPU "
                                          "instead\n",
                                          device_name(), failure)),
            std::string::npos)
      << replaced.err;
  EXPECT_NE(replaced.err.find(fmt::format("device      cpu (instead of {})\n", device_name())),
            std::string::npos)
      << replaced.err;
  const ProcessResult ended = on_device("--epochs 1", "fail_in=40");
  EXPECT_EQ(ended.exit_code, 4);
  EXPECT_EQ(ended.err, fmt::format("error: device {} does not work: {}; choose another device or "
                                   "set device_fallback: true\n",
                                   device_name(), failure));
}

TEST_P(SimulatedDeviceRunTest, AWrongNumberOfASmallStepIsSaid) {
  const ProcessResult result = on_device("--epochs 1", "nan_in=50");
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_TRUE(
      result.err.starts_with(fmt::format("error: device {} does not work: the ", device_name())))
      << result.err;
  EXPECT_NE(result.err.find(" of a small step "), std::string::npos) << result.err;
}

TEST_P(SimulatedDeviceRunTest, ARunWhoseDeviceIsLostGoesOnOnTheCpu) {
  const std::string run = "-q training.step=autograd --epochs 3 ";
  ASSERT_EQ(on_device(run + "--output-dir whole").exit_code, 0);
  const ProcessResult lost = on_device(run + "--output-dir lost", "lose_in=700");
  EXPECT_EQ(lost.exit_code, 4);
  EXPECT_NE(lost.err.find(" has failed: "), std::string::npos) << lost.err;
  ASSERT_EQ(on_cpu("-q --resume lost/latest").exit_code, 0);
  EXPECT_EQ(records("lost"), records("whole"));
}

TEST_P(SimulatedDeviceRunTest, AnotherMachineMayLackThePrecisionOfTheRun) {
  if (GetParam() == "mps") return;  // bf16 asks for a version of macOS first
  const std::string run = "-q precision=bf16 --epochs 1 --output-dir runs";
  ASSERT_EQ(on_device(run).exit_code, 0);
  const ProcessResult refused = on_device("-q --resume runs/latest --epochs 2", "bf16=0");
  EXPECT_EQ(refused.exit_code, 4);
  EXPECT_TRUE(refused.err.starts_with("error: precision: LibTorch ")) << refused.err;
  EXPECT_TRUE(refused.err.ends_with(
      " does not support bf16 on cuda:0; choose another precision or device, or set "
      "device_fallback: true\n"))
      << refused.err;
  const ProcessResult replaced =
      on_device("-q --resume runs/latest --epochs 2 device_fallback=true", "bf16=0");
  EXPECT_EQ(replaced.exit_code, 0) << replaced.err;
  EXPECT_NE(replaced.err.find(" does not support bf16 on cuda:0; using fp32 instead\n"),
            std::string::npos)
      << replaced.err;
}

TEST_P(SimulatedDeviceRunTest, TheFastestDeviceIsChosenByItsSteps) {
  const ProcessResult result =
      beside_device("-q --epochs 1 --device fastest precision=fp32 --output-dir runs");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const Json system = parse_json(test::read_file(folder_.path() / "runs/latest/system.json"));
  const Json& start = system.at("starts").at(0);
  ASSERT_EQ(start.at("device_trials").size(), 2U);
  EXPECT_EQ(start.at("device_trials").at(0).at("device"), "cpu");
  EXPECT_EQ(start.at("device"), "cpu");  // the other one computes with more calls
  for (const Json& trial : start.at("device_trials")) {
    EXPECT_GT(trial.at("step_seconds").get<double>(), 0);
    EXPECT_LT(trial.at("loss_difference").get<double>(), 1e-3);
  }
}

TEST_P(SimulatedDeviceRunTest, AnIndexThatDoesNotExistIsAnError) {
  const ProcessResult result = beside_device("--epochs 1 --device cuda:7");
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_EQ(result.err,
            fmt::format("error: device cuda:7 is not available (available: cpu, {}); choose "
                        "another device or set device_fallback: true\n",
                        device_name()));
}

}  // namespace
}  // namespace trainer
