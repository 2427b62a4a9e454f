// SPDX-License-Identifier: Apache-2.0
// The real program on devices that tests/simulated_device makes.
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/metrics_records.h"
#include "support/temporary_folder.h"
#include "support/trainer_program.h"

namespace trainer {
namespace {

using test::ProcessResult;
using test::timeless_lines;
using test::trainer_in;

class SimulatedDeviceRunTest : public testing::TestWithParam<std::string> {
 protected:
  ProcessResult on_device(const std::string& arguments, const std::string& settings = "") const {
    const std::string library = GetParam() == "mps" ? SIMULATED_MPS : SIMULATED_CUDA;
    return test::trainer_in_shell(
        folder_.path(), fmt::format("LD_PRELOAD={} SIMULATED_DEVICE={}", library, settings),
        fmt::format("--device {} threads=1 device_fallback=false {}", GetParam(), arguments));
  }
  ProcessResult on_cpu(const std::string& arguments) const {
    return trainer_in(folder_.path(), "--device cpu threads=1 " + arguments);
  }
  std::vector<std::string> records(const std::string& parent) const {
    return timeless_lines(folder_.path() / parent / "latest/metrics.jsonl");
  }

  test::TemporaryFolder folder_;
};

INSTANTIATE_TEST_SUITE_P(Devices, SimulatedDeviceRunTest, testing::Values("mps", "cuda"),
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
            "error: LibTorch: Invalid buffer size: 71.06 KB; use a smaller model, batch size or "
            "data file\n");
}

}  // namespace
}  // namespace trainer
