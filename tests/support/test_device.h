// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

namespace trainer::test {

/// The device that the tests of the engine run on: that of TRAINER_TEST_DEVICE ("mps", "cuda"),
/// else the CPU.
inline c10::Device test_device() {
  const char* name = std::getenv("TRAINER_TEST_DEVICE");
  return c10::Device(name == nullptr ? "cpu" : name);
}

inline at::Tensor on_device(const at::Tensor& t) { return t.to(test_device()); }

}  // namespace trainer::test
