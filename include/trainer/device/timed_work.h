// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <c10/core/Device.h>

#include "trainer/core/time_scopes.h"

namespace trainer::device {

/// TimedWork that includes what the device does: while times are measured, the end of the scope
/// waits until an accelerator has done all it was given, so that its work counts where it was
/// asked for.
class TimedDeviceWork {
 public:
  TimedDeviceWork(c10::Device device, Work work, std::size_t layer = 0)
      : work_(work, layer), device_(device) {}
  ~TimedDeviceWork() {
    if (work_.is_measured() && !device_.is_cpu()) wait();
  }
  TimedDeviceWork(const TimedDeviceWork&) = delete;
  TimedDeviceWork& operator=(const TimedDeviceWork&) = delete;

 private:
  void wait() const noexcept;

  TimedWork work_;
  c10::Device device_;
};

}  // namespace trainer::device
