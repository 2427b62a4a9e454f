// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trainer/device/device.h"
#include "trainer/device/precision.h"
#include "trainer/device/threads.h"
#include "trainer/train/session.h"
#include "trainer/train/thread_trials.h"

namespace trainer::config {
struct Config;
}

namespace trainer::engine {

/// What the configuration leaves open and this machine decides.
struct Decisions {
  device::DeviceChoice device;
  device::PrecisionChoice precision;
  device::ThreadChoice threads;
  std::vector<train::ThreadTrial> thread_trials;  // empty where none were needed
};

/// Device and precision. Throws Error(kDevice) where one is absent and may not be replaced.
Decisions decide_device(const config::Config& config);

/// Logs what is not as it was asked for.
void warn(const Decisions& decisions);

/// The number of threads, which the session then has: as configured; as `before` a resume, because
/// another number may add in another order; as OMP_NUM_THREADS says; or as trials of the step show.
void decide_threads(train::Session& session, std::optional<int64_t> before, Decisions& decisions);

}  // namespace trainer::engine
