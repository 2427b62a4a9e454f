// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/out_of_memory.h"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/io/log.h"
#include "trainer/base/parallel/cpus.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/json.h"  // IWYU pragma: keep
#include "trainer/base/time/timeline.h"
#include "trainer/nn/schedule/loss_scale.h"
#include "trainer/run/checkpoint/checkpoint.h"
#include "trainer/torch/device/device.h"
#include "trainer/torch/device/memory.h"
#include "trainer/torch/device/precision.h"

namespace trainer::train {
namespace {

// A batch norm prevents splitting: smaller batches have other statistics, which would change the
// result.
bool can_split(const Session& session) {
  return session.config.training.on_out_of_memory != config::OnOutOfMemory::kStop &&
         session.config.model.norm != config::Norm::kBatch && micro_batch_size(session) > 1;
}

bool can_fall_back(const Session& session) {
  return session.config.training.on_out_of_memory == config::OnOutOfMemory::kFallbackCpu &&
         !session.device.is_cpu();
}

std::string advice(const Session& session) {
  if (session.config.training.on_out_of_memory == config::OnOutOfMemory::kStop) {
    return "set training.on_out_of_memory: split, or use a smaller batch or model";
  }
  if (session.config.model.norm == config::Norm::kBatch && micro_batch_size(session) > 1) {
    return "model.norm: batch needs the whole batch for its statistics, so the batch cannot be "
           "split; use a smaller training.batch_size, or model.norm: layer";
  }
  return session.device.is_cpu()
             ? "use a smaller model or data file"
             : "use a smaller model, or training.on_out_of_memory: fallback_cpu";
}

void halve_loss_scale(Session& session) {
  session.state.scaler =
      schedule::after_step(*session.state.scaler, schedule::GradientStatus::kNotFinite);
  ++session.state.recoveries.overflowed_steps;
  log::debug(
      fmt::format("step {} (epoch {}): gradient overflow; retrying the step with loss scale {:g}",
                  session.state.position.step + 1, session.state.position.epoch + 1,
                  session.state.scaler->scale));
}

void split_batches(Session& session) {
  checkpoint::Recoveries& recoveries = session.state.recoveries;
  recoveries.micro_batch_size = (micro_batch_size(session) + 1) / 2;
  ++recoveries.out_of_memory;
}

void warn(const Session& session, const std::string& message) {
  log::event("out_of_memory", message,
             {{"step", session.state.position.step + 1},
              {"epoch", session.state.position.epoch + 1},
              {"micro_batch_size", micro_batch_size(session)}},
             log::Level::kWarning);
}

/// Reduces the memory that the session needs, or throws if it cannot.
void reduce_memory(Session& session, const std::string& what) {
  const std::string problem =
      fmt::format("step {} (epoch {}): out of memory on {} with {}",
                  session.state.position.step + 1, session.state.position.epoch + 1,
                  session.device.str(), counted(micro_batch_size(session), "row"));
  if (can_split(session)) {
    split_batches(session);
    warn(session, fmt::format("{}; using micro-batches of {} from now on (same result)", problem,
                              counted(micro_batch_size(session), "row")));
  } else if (can_fall_back(session)) {
    move_to_cpu(session);
    warn(session, fmt::format("{}; continuing on the CPU", problem));
  } else {
    throw Error(ErrorKind::kOutOfMemory,
                fmt::format("{}; {} ({})", problem, advice(session), what));
  }
}

// Calls attempt() until it does not run out of memory.
template <class Attempt>
auto with_memory_retries(Session& session, const Attempt& attempt) {
  for (;;) {
    try {
      return attempt();
    } catch (const Error&) {
      throw;
    } catch (const std::exception& e) {
      if (!device::is_out_of_memory(e)) throw;
      reduce_memory(session, device::error_text(e));
    }
    device::release_cached_memory(session.device);
  }
}

}  // namespace

void move_to_cpu(Session& session) {
  const checkpoint::Checkpoint state = snapshot(session);
  const float grad_norm = session.grad_norm;
  config::Config config = session.config;
  config.precision = device::precision_on_cpu(config.precision);
  auto moved = make_session(config, std::move(session.data), c10::kCPU, session.world);
  restore(*moved, state);
  if (config.precision != config::Precision::kFp16) moved->state.scaler.reset();
  moved->requests = session.requests;
  session = std::move(*moved);
  session.grad_norm = grad_norm;
  checkpoint::Recoveries& recoveries = session.state.recoveries;
  recoveries.micro_batch_size = 0;
  recoveries.has_fallen_back = true;
  ++recoveries.out_of_memory;
  use_threads(session, usable_cpus());
}

StepStats run_step(Session& session) {
  const TimedStage timed(Stage::kStep);
  for (;;) {
    const StepStats stats = with_memory_retries(
        session, [&] { return session.step->run(next_window(session), next_rates(session)); });
    session.requests.stop_signal =
        std::max(session.requests.stop_signal, stats.requests.stop_signal);
    session.requests.save = session.requests.save || stats.requests.save;
    if (!stats.has_overflowed) return stats;
    halve_loss_scale(session);
  }
}

Evaluation evaluate_within_memory(Session& session, const std::function<Evaluation()>& attempt) {
  try {
    return attempt();
  } catch (const std::exception& e) {
    if (!device::is_out_of_memory(e)) throw;
    const std::string problem =
        fmt::format("evaluation: out of memory on {}", session.device.str());
    if (!can_fall_back(session)) {
      throw Error(ErrorKind::kOutOfMemory,
                  fmt::format("{}; {} ({})", problem, advice(session), device::error_text(e)));
    }
    move_to_cpu(session);
    warn(session, problem + "; continuing on the CPU");
  }
  return attempt();
}

void rehearse_step(Session& session) {
  with_memory_retries(session, [&] { session.step->rehearse(next_window(session)); });
}

void use_threads_within_memory(Session& session, int64_t num_threads) {
  with_memory_retries(session, [&] { use_threads(session, num_threads); });
}

}  // namespace trainer::train
