// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/run/folder/system_info.h"

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

/// Chooses the kernels of OpenBLAS for all programs that a test starts, as each of them would for
/// itself: a simulated device loads LibTorch before the program can, and OpenBLAS may take a new
/// CPU for an old one, whose kernels give other bits.
class BlasCore {
 public:
  BlasCore() { run::correct_blas_core(); }
  ~BlasCore() {
    if (!was_set_) unsetenv(kVariable);
  }
  BlasCore(const BlasCore&) = delete;
  BlasCore& operator=(const BlasCore&) = delete;

 private:
  static constexpr const char* kVariable = "OPENBLAS_CORETYPE";
  bool was_set_ = std::getenv(kVariable) != nullptr;
};

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

 private:
  BlasCore blas_core_;
};

}  // namespace trainer::test
