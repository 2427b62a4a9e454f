// SPDX-License-Identifier: Apache-2.0
#include "trainer/torch/device/timed_work.h"

#include <exception>

#include <ATen/ops/zeros.h>

namespace trainer::device {

// A device has one queue, so reading a number back waits for all earlier work. If that work has
// failed, the next operation reports the error.
void TimedDeviceWork::wait() const noexcept {
  try {
    at::zeros({1}, at::TensorOptions().device(device_)).cpu();
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
  }
}

}  // namespace trainer::device
