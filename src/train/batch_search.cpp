// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/batch_search.h"

#include <algorithm>
#include <exception>
#include <limits>
#include <memory>
#include <optional>

#include <ATen/ops/arange.h>

#include "trainer/base/error.h"
#include "trainer/base/memory/process_memory.h"
#include "trainer/base/parallel/cpus.h"
#include "trainer/base/time/stopwatch.h"
#include "trainer/torch/device/memory.h"
#include "trainer/train/trials.h"

namespace trainer::train {
namespace {

constexpr double kMeasuredSeconds = 0.1;  // for each size
constexpr double kNearlyBest = 0.95;

int64_t memory_in_use(c10::Device device) {
  const auto memory = device::accelerator_memory(device);
  return memory ? memory->peak.value_or(memory->current) : process_memory().current;
}

// Rows 0, 1, 2, ... of the training split, repeated if there are too few.
at::Tensor repeated_rows(const Session& session, int64_t num_rows) {
  return at::arange(num_rows, at::TensorOptions().dtype(at::kLong).device(session.device))
      .remainder_(session.train.size());
}

BatchTrial run_trial(Session& session, int64_t batch_size, int64_t num_threads) {
  BatchTrial trial{.batch_size = batch_size};
  const at::Tensor order = repeated_rows(session, batch_size);
  const Window window{
      .data = session.train, .order = order, .num_samples = batch_size, .batch_size = batch_size};
  std::unique_ptr<TrainStep> step;
  const auto use_threads = [&](int64_t threads) {
    step.reset();  // frees its memory first
    step = make_step(session, batch_size, threads);
  };
  const int64_t usable = usable_cpus();
  trial.num_threads = num_threads > 0 ? num_threads : usable;
  if (num_threads == 0 && session.device.is_cpu() && usable > 1) {
    trial.num_threads =
        min_fast_threads(try_threads(usable, use_threads, [&] { step->rehearse(window); }));
  }
  use_threads(trial.num_threads);
  step->run(window, {.learning_rate = 0});  // warm-up
  trial.step_seconds = std::numeric_limits<double>::infinity();
  for (const Stopwatch all; all.seconds() < kMeasuredSeconds;) {
    const Stopwatch one;
    step->run(window, {.learning_rate = 0});
    trial.step_seconds = std::min(trial.step_seconds, one.seconds());
  }
  trial.memory_bytes = memory_in_use(session.device);
  return trial;
}

// Estimates the memory in advance, because Linux overcommits memory and kills a process that uses
// too much of it.
bool is_likely_to_fit(const Session& session, const std::vector<BatchTrial>& trials,
                      int64_t batch_size) {
  const auto available = available_memory();
  if (!session.device.is_cpu() || !available || trials.size() < 2) return true;
  const BatchTrial& first = trials.front();
  const BatchTrial& last = trials.back();
  const double bytes_per_row = static_cast<double>(last.memory_bytes - first.memory_bytes) /
                               static_cast<double>(last.batch_size - first.batch_size);
  const double more = bytes_per_row * static_cast<double>(batch_size - last.batch_size);
  return more < 0.9 * static_cast<double>(*available);
}

// Runs a trial. Returns nothing if memory runs out, or probably would.
std::optional<BatchTrial> try_batch(Session& session, const std::vector<BatchTrial>& trials,
                                    int64_t batch_size, int64_t num_threads) {
  if (!is_likely_to_fit(session, trials, batch_size)) return std::nullopt;
  try {
    return run_trial(session, batch_size, num_threads);
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::kOutOfMemory) throw;
  } catch (const std::exception& e) {
    if (!device::is_out_of_memory(e)) throw;
  }
  device::release_cached_memory(session.device);
  return std::nullopt;
}

}  // namespace

BatchSearch search_batch_sizes(Session& session, int64_t max_batch_size, int64_t num_threads,
                               FunctionRef<void(const BatchTrial&)> on_trial) {
  BatchSearch search;
  std::vector<BatchTrial>& trials = search.trials;
  const auto try_size = [&](int64_t batch_size) {
    const auto trial = try_batch(session, trials, batch_size, num_threads);
    if (!trial) {
      search.too_large = batch_size;
      return;
    }
    trials.push_back(*trial);
    on_trial(*trial);
  };
  try_size(1);
  while (search.too_large == 0 && trials.back().batch_size < max_batch_size) {
    try_size(std::min(2 * trials.back().batch_size, max_batch_size));
  }
  if (trials.empty()) {
    throw Error(ErrorKind::kOutOfMemory,
                "not even a batch of one row fits into memory; use a smaller model");
  }
  while (search.too_large - trials.back().batch_size > search.too_large / 10) {
    try_size((trials.back().batch_size + search.too_large) / 2);
  }
  return search;
}

const BatchTrial& smallest_fast_batch(const BatchSearch& search) {
  const auto slower = [](const BatchTrial& a, const BatchTrial& b) {
    return a.samples_per_second() < b.samples_per_second();
  };
  const double best =
      std::max_element(search.trials.begin(), search.trials.end(), slower)->samples_per_second();
  return *std::find_if(search.trials.begin(), search.trials.end(), [&](const BatchTrial& trial) {
    return trial.samples_per_second() >= kNearlyBest * best;
  });
}

}  // namespace trainer::train
