// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/metrics_records.h"
#include "support/temporary_folder.h"
#include "support/trainer_program.h"

namespace trainer::test {

/// Whether the tests run on a real accelerator, that of TRAINER_TEST_DEVICE.
inline bool has_real_device() { return std::getenv("TRAINER_TEST_DEVICE") != nullptr; }

/// The accelerators that tests run on: the real one, else both simulated ones, and where there are
/// none the CPU.
inline std::vector<std::string> accelerator_names() {
  if (has_real_device()) return {std::getenv("TRAINER_TEST_DEVICE")};
#ifdef SIMULATED_MPS
  return {"mps", "cuda"};
#else
  return {"cpu"};
#endif
}

/// The variables of the environment that make that device.
inline std::string simulating([[maybe_unused]] const std::string& device,
                              [[maybe_unused]] const std::string& settings) {
#ifdef SIMULATED_MPS
  const std::string library = device == "mps" ? SIMULATED_MPS : SIMULATED_CUDA;
  if (!has_real_device())
    return fmt::format("LD_PRELOAD={} SIMULATED_DEVICE={}", library, settings);
#endif
  return "";
}

/// The real program on the accelerator that is the parameter of the test.
class DeviceRuns : public testing::TestWithParam<std::string> {
 protected:
  // Where the device is there to be chosen; `settings`: of a simulated one.
  ProcessResult beside_device(const std::string& arguments,
                              const std::string& settings = "") const {
    return trainer_in_shell(folder_.path(), simulating(GetParam(), settings),
                            "threads=1 device_fallback=false " + arguments);
  }
  ProcessResult on_device(const std::string& arguments, const std::string& settings = "") const {
    return beside_device(fmt::format("--device {} {}", GetParam(), arguments), settings);
  }
  ProcessResult on_cpu(const std::string& arguments) const {
    return trainer_in(folder_.path(), "--device cpu threads=1 " + arguments);
  }
  std::vector<std::string> records(const std::string& parent) const {
    return timeless_lines(folder_.path() / parent / "latest/metrics.jsonl");
  }

  TemporaryFolder folder_;
};

}  // namespace trainer::test
