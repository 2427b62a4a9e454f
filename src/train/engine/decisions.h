// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trainer/launch/place.h"
#include "trainer/torch/device/device.h"
#include "trainer/torch/device/precision.h"
#include "trainer/torch/device/threads.h"
#include "trainer/train/session.h"
#include "trainer/train/trials.h"

namespace trainer::config {
struct Config;
}
namespace trainer::data {
struct Datasets;
}

namespace trainer::engine {

/// The settings of a run that depend on this machine, with the reasons.
struct Decisions {
  device::DeviceChoice device;
  device::PrecisionChoice precision;
  device::ThreadChoice threads;
  std::vector<train::DeviceTrial> device_trials;  // filled for `device: fastest` only
  std::vector<train::ThreadTrial> thread_trials;  // empty: no trials were needed
  // The most threads that may be tried during the run; 0: the number stays.
  int64_t max_threads = 0;
  // They are tried after so many seconds of steps, of which the first trials are 1 %: soon where
  // these were close.
  double first_thread_trial = 10;
  std::optional<train::ExchangeTrial> exchange;  // with several processes only
  std::string epochs_reason;                     // why there are fewer epochs; empty: as configured
};

/// Whether `device: fastest` may choose a precision other than that of the configuration.
enum class MayChoosePrecision { kNo, kYes };

/// Decides device and precision. An accelerator is used only if a small step of the run on `data`
/// gives the same results as on the CPU. Each process of a machine gets its own CUDA device. Throws
/// Error(kDevice) if a device is unavailable or does not work, and has no fallback.
Decisions decide_device(const config::Config& config, const data::Datasets& data,
                        const launch::Place& place, MayChoosePrecision may_choose);

/// Logs a warning for each setting that differs from what was requested.
void warn(const Decisions& decisions);

/// Decides the number of threads and sets it in the session: the configured number; else `before`,
/// the number of a resumed run, because another one may change the order of sums; else that of
/// OMP_NUM_THREADS; else the fastest by timing steps. `sharing` is the number of processes that use
/// the CPUs of this one.
void decide_threads(train::Session& session, std::optional<int64_t> before, int64_t sharing,
                    Decisions& decisions);

/// If training.max_seconds limits the epochs of a new run, sets their number in the session and in
/// `config`, the configuration of the run. Throws Error(kUsage) if not even one epoch fits, or not
/// the warm-up.
void decide_epochs(train::Session& session, config::Config& config, Decisions& decisions);

}  // namespace trainer::engine
