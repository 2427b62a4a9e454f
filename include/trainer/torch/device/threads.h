// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <c10/core/Device.h>

#include "trainer/base/time/timeline.h"

namespace trainer::device {

/// A number of threads and the reason for choosing it.
struct ThreadChoice {
  int64_t num_threads = 1;
  std::string reason;
};

/// Returns `requested` threads, or if that is 0, the number in `omp_num_threads`, the value of the
/// environment variable OMP_NUM_THREADS or null. Nothing if neither is set.
std::optional<ThreadChoice> choose_threads(int64_t requested, const char* omp_num_threads);

/// Sets the number of threads of LibTorch and its BLAS.
void use_threads(int64_t num_threads);

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
