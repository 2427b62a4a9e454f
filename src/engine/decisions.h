// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trainer/device/device.h"
#include "trainer/device/precision.h"
#include "trainer/device/threads.h"
#include "trainer/launch/place.h"
#include "trainer/train/device_trial.h"
#include "trainer/train/exchange_trial.h"
#include "trainer/train/session.h"
#include "trainer/train/thread_trials.h"

namespace trainer::config {
struct Config;
}
namespace trainer::data {
struct Datasets;
}

namespace trainer::engine {

/// Settings that depend on this machine.
struct Decisions {
  device::DeviceChoice device;
  device::PrecisionChoice precision;
  device::ThreadChoice threads;
  std::vector<train::DeviceTrial> device_trials;  // of device: fastest
  std::vector<train::ThreadTrial> thread_trials;  // empty: none were needed
  int64_t max_threads = 0;  // that may be tried while the run goes on; 0: their number stays
  std::optional<train::ExchangeTrial> exchange;  // of several processes
  std::string epochs_reason;                     // empty: as configured
};

/// Whether `device: fastest` may choose another precision than that of the configuration.
enum class MayChoosePrecision { kNo, kYes };

/// Decides device and precision: an accelerator only if it makes a small step of the run on `data`
/// as the CPU does. Throws Error(kDevice) if one is unavailable or does not work and has no
/// fallback. An accelerator of its own for each process of a machine.
Decisions decide_device(const config::Config& config, const data::Datasets& data,
                        const launch::Place& place, MayChoosePrecision may_choose);

/// Logs a warning for each setting that is not as requested.
void warn(const Decisions& decisions);

/// Decides the number of threads and sets it in the session: as configured; as `before` a resume,
/// because another number may change the order of sums; as in OMP_NUM_THREADS; or by timing steps.
/// `before`: of the resumed run. `sharing`: processes that have the CPUs of this one.
void decide_threads(train::Session& session, std::optional<int64_t> before, int64_t sharing,
                    Decisions& decisions);

/// Where training.max_seconds limits the epochs of a new run, decides how many there are in the
/// session and in `config`, which is that of the run. Throws Error(kUsage) if not even one fits.
void decide_epochs(train::Session& session, config::Config& config, Decisions& decisions);

}  // namespace trainer::engine
