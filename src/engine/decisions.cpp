// SPDX-License-Identifier: Apache-2.0
#include "engine/decisions.h"

#include <algorithm>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "trainer/config/config.h"
#include "trainer/core/cpus.h"
#include "trainer/core/error.h"
#include "trainer/core/format.h"
#include "trainer/core/log.h"
#include "trainer/core/time_scopes.h"
#include "trainer/core/timeline.h"
#include "trainer/train/out_of_memory.h"
#include "trainer/train/time_limit.h"

namespace trainer::engine {
namespace {

std::string threads_reason(const std::vector<train::ThreadTrial>& trials) {
  if (trials.size() == 1) return "auto: all CPUs";
  std::string text = "auto: a step takes";
  for (const train::ThreadTrial& trial : trials) {
    text += fmt::format("{} {} with {}", &trial == trials.data() ? "" : ",",
                        human_duration(trial.step_seconds), trial.num_threads);
  }
  return text;
}

}  // namespace

Decisions decide_device(const config::Config& config, const launch::Place& place) {
  const auto fallback =
      config.device_fallback ? device::Fallback::kToCpu : device::Fallback::kForbidden;
  Decisions d;
  d.device = device::choose_device(config.device, fallback, device::available_devices());
  if (d.device.device.is_cuda() && place.size > 1 && !d.device.device.has_index()) {
    d.device.device = c10::Device(c10::kCUDA, static_cast<c10::DeviceIndex>(place.local_rank));
  }
  d.precision =
      device::choose_precision(config.precision, d.device.device, fallback,
                               device::probe_precision(d.device.device, config.precision));
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

// The launcher's OMP_NUM_THREADS says nothing about this program: torchrun sets 1 if nobody else
// does.
device::ThreadChoice share_cpus(const train::Session& session, std::optional<int64_t> before,
                                int64_t sharing) {
  if (session.config.threads > 0) return {session.config.threads, "as configured"};
  // Without the fused step the bits depend on it.
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
  if (!session.world->is_alone()) {
    decisions.threads = share_cpus(session, before, sharing);
  } else if (before && configured == 0) {
    // Another number of threads may change the order of sums, and so the last bits.
    decisions.threads = {*before, "as in the resumed run"};
  } else if (auto choice = device::choose_threads(configured, std::getenv("OMP_NUM_THREADS"))) {
    decisions.threads = *choice;
  } else if (!session.device.is_cpu() || usable == 1) {
    decisions.threads = {usable, "auto: all CPUs available to this process"};
  } else {
    decisions.thread_trials = train::try_threads(session, usable);
    decisions.threads = {train::min_fast_threads(decisions.thread_trials),
                         threads_reason(decisions.thread_trials)};
  }
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
