// SPDX-License-Identifier: Apache-2.0
#include "trainer/device/timed_work.h"

#include <exception>

#include <ATen/ops/zeros.h>

namespace trainer::device {

// Devices have one queue, so a number that comes back has waited for all before it. If the work has
// failed, the next operation says so.
void TimedDeviceWork::wait() const noexcept {
  try {
    at::zeros({1}, at::TensorOptions().device(device_)).cpu();
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
  }
}

}  // namespace trainer::device
