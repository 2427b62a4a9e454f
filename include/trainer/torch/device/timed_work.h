// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <c10/core/Device.h>

#include "trainer/base/time/timeline.h"

namespace trainer::device {

/// A TimedWork that includes the work of the device: while times are measured, the end of the scope
/// waits until an accelerator has finished all its operations, so that their time counts where they
/// were started.
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
