// SPDX-License-Identifier: Apache-2.0
#include "devices/measurement.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "trainer/core/error.h"
#include "trainer/core/log.h"
#include "trainer/core/stopwatch.h"
#include "trainer/device/memory.h"
#include "trainer/device/precision.h"

#include "devices/peak_memory.h"
#include "training.h"

namespace trainer::bench {
namespace {

// Long enough for CPU clocks and caches to settle, and for the threads of the previous row to go to
// sleep.
constexpr double kWarmupSeconds = 0.2;

std::unique_ptr<train::Session> make_row_session(const RowPlan& plan, int64_t num_threads) {
  return make_session(plan.workload, plan.device, plan.step, num_threads, plan.precision);
}

// Waits until the device has finished all work. Devices have one queue, so copying a number back
// suffices.
void synchronize(const train::Session& session) {
  if (!session.device.is_cpu()) session.model.parameters().values.narrow(0, 0, 1).cpu();
}

// Mean losses of the first steps; fewer than `num_steps` if the time runs out.
std::vector<double> first_losses(train::Session& session, int64_t num_steps, double max_seconds) {
  const Stopwatch stopwatch;
  std::vector<double> losses;
  do {
    const train::StepStats stats = make_step(session);
    losses.push_back(static_cast<double>(stats.loss_sum) / static_cast<double>(stats.num_samples));
  } while (static_cast<int64_t>(losses.size()) < num_steps && stopwatch.seconds() < max_seconds);
  return losses;
}

// The losses of fp32 autograd on the CPU.
const std::vector<double>& reference_losses(Bench& bench, const RowPlan& row) {
  std::vector<double>& losses = bench.references[workload_name(row.setting)];
  if (!losses.empty()) return losses;
  RowPlan reference = row;
  reference.device = c10::kCPU;
  reference.step = config::StepKind::kAutograd;
  reference.precision = config::Precision::kFp32;
  const auto session = make_row_session(reference, bench.options.num_threads);
  losses = first_losses(*session, bench.options.check_steps, bench.options.max_seconds);
  return losses;
}

// After the last step of both.
double relative_difference(const std::vector<double>& losses,
                           const std::vector<double>& reference) {
  const std::size_t last = std::min(losses.size(), reference.size()) - 1;
  return std::abs(losses[last] - reference[last]) / std::abs(reference[last]);
}

void warm_up(train::Session& session, const Options& options) {
  const Stopwatch stopwatch;
  for (int64_t step = 0; stopwatch.seconds() < options.max_seconds / 2; ++step) {
    if (step >= options.warmup_steps &&
        (options.warmup_steps == 0 || stopwatch.seconds() > kWarmupSeconds)) {
      break;
    }
    make_step(session);
  }
  synchronize(session);
}

// Of the device; on the CPU, of the process.
uint64_t peak_bytes(c10::Device device) {
  const auto memory = device::accelerator_memory(device);
  return memory ? static_cast<uint64_t>(memory->peak.value_or(memory->current))
                : peak_memory_bytes();
}

double average(const std::vector<double>& values) { return summarize(values).average; }

std::vector<double> timed_steps(benchmark::State& state, train::Session& session,
                                double max_seconds) {
  std::vector<double> seconds;
  const Stopwatch all;
  for (auto _ : state) {
    // The number of iterations is fixed, so steps that are omitted count as average.
    if (!seconds.empty() && all.seconds() > max_seconds) {
      state.SetIterationTime(average(seconds));
      continue;
    }
    const Stopwatch one;
    make_step(session);
    synchronize(session);
    seconds.push_back(one.seconds());
    state.SetIterationTime(seconds.back());
  }
  return seconds;
}

void measure(benchmark::State& state, Bench& bench, const RowPlan& row, RowTimes& times) {
  const Options& options = bench.options;
  const std::vector<double>& reference = reference_losses(bench, row);
  restart_peak_memory();
  const auto session = make_row_session(row, options.num_threads);
  const double difference = relative_difference(
      first_losses(*session, options.check_steps, options.max_seconds / 2), reference);
  warm_up(*session, options);
  std::vector<double> step_ms = timed_steps(state, *session, options.max_seconds);
  for (double& value : step_ms) value *= 1e3;

  times.peak_memory_bytes = std::max(times.peak_memory_bytes, peak_bytes(session->device));
  // Keeps NaN, as no comparison with it is true.
  if (!(difference <= times.loss_difference)) times.loss_difference = difference;
  times.repetition_medians.push_back(median(step_ms));
  times.step_ms.insert(times.step_ms.end(), step_ms.begin(), step_ms.end());

  const Summary summary = summarize(std::move(step_ms));
  state.SetItemsProcessed(state.iterations() * row.workload.batch_size);
  // Not 0: Google Benchmark writes the variation of zeros as NaN, which is not JSON.
  state.counters["median_ms"] = summary.median;
  state.counters["min_ms"] = summary.min;
  state.counters["max_ms"] = summary.max;
  state.counters["peak_bytes"] = static_cast<double>(times.peak_memory_bytes);
}

// Only the first line: a list of functions follows in LibTorch's messages.
std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

void run_row(benchmark::State& state, Bench& bench, std::size_t index) {
  const RowPlan& row = bench.plan.rows[index];
  RowTimes& times = bench.times[index];
  log::show_status(fmt::format("measurement {}: {}", ++bench.num_started, row_name(row.setting)));
  try {
    measure(state, bench, row, times);
  } catch (const std::exception& e) {
    times.failure = first_line(e.what());
    state.SkipWithError(times.failure.c_str());
  }
  log::clear_status();
}

config::StepKind step_kind(const std::string& name) {
  return name == "autograd" ? config::StepKind::kAutograd : config::StepKind::kAuto;
}

const PrecisionChoice& precision_choice(const std::string& name) {
  const auto& choices = precision_choices();
  return *std::find_if(choices.begin(), choices.end(),
                       [&](const PrecisionChoice& choice) { return choice.name == name; });
}

// Why a device cannot train with a precision; empty if it can.
std::string obstacle(c10::Device device, config::Precision precision) {
  const device::PrecisionLimit limit =
      device::precision_limit(device, precision, device::probe_precision(device, precision));
  return limit.support == device::Support::kNone ? limit.text : "";
}

void plan_workloads(const Options& options, const RowPlan& like, Plan& plan) {
  for (const Workload& workload : options.workloads) {
    plan.rows.push_back(like);
    plan.rows.back().workload = workload;
    plan.rows.back().setting.model = workload.name;
    plan.rows.back().setting.batch_size = workload.batch_size;
  }
}

void plan_device(const Options& options, const std::string& name, c10::Device device, Plan& plan) {
  for (const std::string& precision_name : options.precisions) {
    const PrecisionChoice& precision = precision_choice(precision_name);
    if (const std::string reason = obstacle(device, precision.value); !reason.empty()) {
      plan.absent.push_back({fmt::format("{}_{}", name, precision_name), reason});
      continue;
    }
    for (const std::string& train_step : options.train_steps) {
      RowPlan row;
      row.setting = {name, precision_name, train_step, "", 0};
      row.device = device;
      row.step = step_kind(train_step);
      row.precision = precision.value;
      row.max_loss_difference = precision.max_loss_difference;
      plan_workloads(options, row, plan);
    }
  }
}

}  // namespace

Plan make_plan(const Options& options, const device::AvailableDevices& available) {
  Plan plan;
  for (const std::string& name : options.devices) {
    try {
      const c10::Device device =
          device::choose_device(name, device::Fallback::kForbidden, available).device;
      plan_device(options, name, device, plan);
    } catch (const Error&) {
      plan.absent.push_back({name, "LibTorch finds none on this machine"});
    }
  }
  return plan;
}

Bench make_bench(const Options& options, Plan plan) {
  Bench bench;
  bench.options = options;
  bench.times.resize(plan.rows.size());
  bench.plan = std::move(plan);
  return bench;
}

void register_rows(Bench& bench) {
  for (std::size_t i = 0; i < bench.plan.rows.size(); ++i) {
    auto* registered = benchmark::RegisterBenchmark(
        row_name(bench.plan.rows[i].setting).c_str(),
        [&bench, i](benchmark::State& state) { run_row(state, bench, i); });
    registered->Unit(benchmark::kMillisecond)->UseManualTime()->Iterations(bench.options.steps);
    if (bench.options.num_checks > 0) {
      registered->Repetitions(static_cast<int>(bench.options.num_checks));
    }
  }
}

Results collect(const Bench& bench) {
  Results results;
  results.absent = bench.plan.absent;
  for (std::size_t i = 0; i < bench.plan.rows.size(); ++i) {
    const RowPlan& plan = bench.plan.rows[i];
    const RowTimes& times = bench.times[i];
    if (!times.failure.empty()) {
      results.failures.push_back({row_name(plan.setting), times.failure});
    } else if (!times.step_ms.empty()) {
      results.rows.push_back({plan.setting, summarize(times.step_ms), times.repetition_medians,
                              bench.options.steps, times.peak_memory_bytes, times.loss_difference,
                              plan.max_loss_difference});
    }
  }
  return results;
}

}  // namespace trainer::bench
