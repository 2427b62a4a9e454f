// SPDX-License-Identifier: Apache-2.0
#include "train/engine/decisions.h"

#include <algorithm>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/io/log.h"
#include "trainer/base/parallel/cpus.h"
#include "trainer/base/text/format.h"
#include "trainer/base/time/stopwatch.h"
#include "trainer/base/time/timeline.h"
#include "trainer/config/config.h"
#include "trainer/train/out_of_memory.h"
#include "trainer/train/trials.h"

namespace trainer::engine {
namespace {

std::string threads_reason(const std::vector<train::ThreadTrial>& trials) {
  if (trials.size() == 1) return "auto: all CPUs";
  std::string text = "auto: a step takes";
  for (const train::ThreadTrial& trial : trials) {
    text += fmt::format("{} {} with {}", &trial == trials.data() ? "" : ",",
                        precise_duration(trial.step_seconds), trial.num_threads);
  }
  return text;
}

std::string trial_text(const train::DeviceTrial& trial) {
  return fmt::format(
      "{} {} {}", trial.device.str(), config::to_text(trial.precision),
      trial.problem.empty() ? fmt::format("{:.3g} ms", 1e3 * trial.step_seconds) : trial.problem);
}

// Returns all devices with all precisions that they support well, the CPU and fp32 first.
std::vector<train::DeviceTrial> possible_trials(const config::Config& config,
                                                MayChoosePrecision may_choose) {
  std::vector<c10::Device> devices = device::accelerators(device::available_devices());
  devices.insert(devices.begin(), c10::Device(c10::kCPU));
  std::vector<config::Precision> precisions = {config.precision};
  if (may_choose == MayChoosePrecision::kYes) {
    precisions = {config::Precision::kFp32, config::Precision::kBf16, config::Precision::kFp16};
  }
  std::vector<train::DeviceTrial> trials;
  for (const c10::Device device : devices) {
    for (const config::Precision precision : precisions) {
      const device::PrecisionLimit limit =
          device::precision_limit(device, precision, device::probe_precision(device, precision));
      if (limit.support == device::Support::kGood) trials.push_back({device, precision});
    }
  }
  return trials;
}

// Implements `device: fastest`: times steps on all devices and chooses the fastest.
void choose_fastest(const config::Config& config, const data::Datasets& data,
                    MayChoosePrecision may_choose, Decisions& d) {
  d.device_trials = possible_trials(config, may_choose);
  train::time_devices(config, data, d.device_trials);
  std::string text = "fastest: a step takes";
  for (const train::DeviceTrial& trial : d.device_trials) {
    text += fmt::format("{} {}", &trial == d.device_trials.data() ? "" : ",", trial_text(trial));
  }
  const train::DeviceTrial* chosen = train::find_fastest(d.device_trials);
  if (chosen == nullptr) {
    throw Error(ErrorKind::kDevice, fmt::format("device: fastest: no device computes the right "
                                                "loss ({}); set device and precision",
                                                text));
  }
  d.device = {chosen->device, text, ""};
  d.precision = {chosen->precision, ""};
}

device::PrecisionChoice precision_on(c10::Device device, const config::Config& config,
                                     device::Fallback fallback) {
  return device::choose_precision(config.precision, device, fallback,
                                  device::probe_precision(device, config.precision));
}

// Tests the chosen accelerator, because an available device may still fail. Falls back to the CPU
// if that is allowed, else throws Error(kDevice).
void check_device(const config::Config& config, const data::Datasets& data,
                  const launch::Place& place, device::Fallback fallback, Decisions& d) {
  const c10::Device device = d.device.device;
  if (device.is_cpu()) return;
  const std::string problem = train::find_device_problem(config, data, device);
  if (problem.empty()) return;
  const std::string text = fmt::format("device {} does not work: {}", device.str(), problem);
  if (fallback == device::Fallback::kForbidden || place.size > 1) {
    throw Error(ErrorKind::kDevice,
                fmt::format("{}; choose another device{}", text,
                            place.size > 1 ? "" : " or set device_fallback: true"));
  }
  d.device = {c10::Device(c10::kCPU), fmt::format("instead of {}", device.str()),
              text + "; using the CPU instead"};
  d.precision = precision_on(d.device.device, config, fallback);
}

}  // namespace

Decisions decide_device(const config::Config& config, const data::Datasets& data,
                        const launch::Place& place, MayChoosePrecision may_choose) {
  const auto fallback =
      config.device_fallback ? device::Fallback::kToCpu : device::Fallback::kForbidden;
  const device::AvailableDevices available = device::available_devices();
  if (config.device != "cpu") device::use_deterministic_algorithms(available);
  Decisions d;
  if (config.device == "fastest") {
    if (place.size > 1) {
      throw Error(ErrorKind::kUsage,
                  "device: fastest is for one process; expected auto, cpu or cuda with several");
    }
    choose_fastest(config, data, may_choose, d);
    return d;
  }
  d.device = device::choose_device(config.device, fallback, available);
  if (d.device.device.is_cuda() && place.size > 1 && !d.device.device.has_index()) {
    d.device.device = c10::Device(c10::kCUDA, static_cast<c10::DeviceIndex>(place.local_rank));
  }
  d.precision = precision_on(d.device.device, config, fallback);
  check_device(config, data, place, fallback, d);
  return d;
}

void warn(const Decisions& decisions) {
  for (const std::string& warning :
       {decisions.device.warning, decisions.precision.warning,
        device::mps_fallback_note(decisions.device.device,
                                  std::getenv("PYTORCH_ENABLE_MPS_FALLBACK"))}) {
    if (!warning.empty()) log::warning(warning);
  }
}

// Ignores OMP_NUM_THREADS, which launchers set without knowing this program: torchrun sets it to 1
// unless it is set already.
device::ThreadChoice share_cpus(const train::Session& session, std::optional<int64_t> before,
                                int64_t sharing) {
  if (session.config.threads > 0) return {session.config.threads, "as configured"};
  // Without the fused step, the bits of the results depend on the number of threads.
  if (before && !train::uses_kernels(session)) return {*before, "as in the resumed run"};
  const int64_t usable = usable_cpus();
  return {
      std::max<int64_t>(1, usable / sharing),
      fmt::format("auto: {} shared by {}", counted(usable, "CPU"), counted(sharing, "process"))};
}

void decide_threads(train::Session& session, std::optional<int64_t> before, int64_t sharing,
                    Decisions& decisions) {
  const TimedStage timed(Stage::kTryThreads);
  const int64_t configured = session.config.threads;
  const int64_t usable = usable_cpus();
  const auto given = device::choose_threads(configured, std::getenv("OMP_NUM_THREADS"));
  if (!session.world->is_alone()) {
    decisions.threads = share_cpus(session, before, sharing);
  } else if (before && configured == 0) {
    // Another number of threads may change the order of sums, and so the last bits.
    decisions.threads = {*before, "as in the resumed run"};
  } else if (given) {
    decisions.threads = *given;
  } else if (!session.device.is_cpu() || usable == 1) {
    decisions.threads = {usable, "auto: all CPUs available to this process"};
  } else {
    const Stopwatch stopwatch;
    decisions.thread_trials = train::try_threads(session, usable);
    if (train::are_close(decisions.thread_trials)) {
      decisions.first_thread_trial = std::clamp(100 * stopwatch.seconds(), 1.0, 10.0);
    }
    decisions.threads = {train::min_fast_threads(decisions.thread_trials),
                         threads_reason(decisions.thread_trials)};
  }
  const bool is_free = session.world->is_alone() && train::uses_kernels(session) && !given;
  decisions.max_threads = is_free ? usable : 0;
  train::use_threads_within_memory(session, decisions.threads.num_threads);
  if (!session.world->is_alone() && !train::finished(session)) {
    decisions.exchange = train::try_exchange(session);
  }
}

void decide_epochs(train::Session& session, config::Config& config, Decisions& decisions) {
  if (std::erase(config.pending, "training.epochs") == 0) return;
  const double limit = config.training.max_seconds;
  const double epoch_seconds = train::estimate_epoch_seconds(session);
  auto fitting = static_cast<int64_t>(std::min(1e15, limit / epoch_seconds));
  session.world->broadcast(std::as_writable_bytes(std::span(&fitting, 1)));
  const double warmup = config.training.schedule.warmup_epochs;
  if (fitting == 0 || static_cast<double>(fitting) < warmup) {
    throw Error(ErrorKind::kUsage,
                fmt::format("training.max_seconds: expected time for at least {}, got {}, and an "
                            "epoch takes about {}; allow more time, or train on fewer rows",
                            fitting == 0 ? "one epoch"
                                         : fmt::format("{} epochs of warm-up", shortest(warmup)),
                            human_duration(limit), human_duration(epoch_seconds)));
  }
  if (fitting >= config.training.epochs) return;
  decisions.epochs_reason =
      fmt::format("of {}: as many as fit into {}", with_thousands(config.training.epochs),
                  human_duration(limit));
  config.training.epochs = fitting;
  train::set_epochs(session, fitting);
}

}  // namespace trainer::engine
