// SPDX-License-Identifier: Apache-2.0
#include "devices/measurement.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <map>
#include <memory>

#include <fmt/format.h>

#include "trainer/base/io/log.h"
#include "trainer/base/memory/process_memory.h"
#include "trainer/base/time/stopwatch.h"
#include "trainer/torch/device/device.h"
#include "trainer/torch/device/memory.h"
#include "trainer/torch/device/threads.h"

#include "devices/cpu_watch.h"
#include "devices/peak_memory.h"
#include "devices/row_session.h"

namespace trainer::bench {
namespace {

// Long enough for CPU clocks and caches to settle.
constexpr double kWarmupSeconds = 0.2;
// The same at the beginning of a turn: the threads of the row before spin for a while.
constexpr double kSettleMs = 60;
constexpr double kWatchMs = 10;  // steps before the timed ones, too short ones alone show no noise
constexpr int64_t kNumRounds = 10;
constexpr int64_t kMinRounds = 5;  // fewer cannot be compared
constexpr double kSteady = 1.2;    // times the median of the timed steps

/// Memory in use now, of the process and of the tensors on the device.
struct MemoryInUse {
  int64_t process = 0;  // without pages of files: those of data that are read for the first time
  int64_t device = 0;
};

MemoryInUse memory_in_use(c10::Device device) {
  const auto memory = device::accelerator_memory(device);
  return {process_memory().anonymous, memory ? memory->current : 0};
}

/// The peak memory of a row, though sessions of other rows are there: of the device, where it
/// tells; otherwise of the process.
class RowPeak {
 public:
  // `process_bytes`: of the process without any session.
  RowPeak(c10::Device device, int64_t process_bytes)
      : device_(device), process_bytes_(process_bytes), is_restarted_(restart_peak_memory()) {
    device::restart_peak_memory(device);
    const auto memory = device::accelerator_memory(device);
    device_before_ = memory ? memory->current : 0;
    process_before_ = process_memory().current;
  }

  // Where a peak cannot be started anew, the largest of what is seen now and then counts.
  void sample() {
    const auto memory = device::accelerator_memory(device_);
    if (memory) {
      highest_ = std::max(highest_, memory->current);
    } else {
      highest_ = std::max(highest_, process_memory().current);
    }
  }

  uint64_t bytes() const {
    const auto memory = device::accelerator_memory(device_);
    if (memory) return above_zero(memory->peak.value_or(highest_) - device_before_);
    const int64_t peak = is_restarted_ ? static_cast<int64_t>(peak_memory_bytes()) : 0;
    return above_zero(process_bytes_ + std::max(peak, highest_) - process_before_);
  }

 private:
  static uint64_t above_zero(int64_t bytes) {
    return static_cast<uint64_t>(std::max<int64_t>(0, bytes));
  }

  c10::Device device_;
  int64_t process_bytes_;
  bool is_restarted_;
  int64_t device_before_ = 0;
  int64_t process_before_ = 0;
  int64_t highest_ = 0;
};

/// A row whose turn comes again and again.
struct LiveRow {
  const RowPlan& plan;
  RowTimes& times;
  std::unique_ptr<RowSession> session = {};
  std::vector<double> first_steps = {};  // ms, until warm-up is over
  double usual_ms = 0;                   // of a step
};

/// Measures the rows of one workload together.
class WorkloadRun {
 public:
  explicit WorkloadRun(const Options& options) : options_(options) {}

  void add(const RowPlan& plan, RowTimes& times) { rows_.push_back({plan, times}); }

  void measure() {
    if (rows_.empty()) return;
    const std::vector<double> reference = reference_losses();
    restart_peak_memory();  // returns what was freed
    const int64_t process_bytes = process_memory().current;
    for_each_row([&](LiveRow& row) { prepare(row, reference, process_bytes); });
    // Creating a session may have changed it, and changing it in turns would take time.
    device::use_threads(options_.num_threads);
    const int64_t num_rounds = count_rounds();
    for (LiveRow& row : rows_) row.times.repetitions.emplace_back();
    for (int64_t round = 0; round < num_rounds; ++round) {
      for_each_row([&](LiveRow& row) { take_turn(row, round, num_rounds); });
    }
    for (LiveRow& row : rows_) finish(row);
  }

 private:
  // Rows that fail are left out from then on.
  template <class Function>
  void for_each_row(const Function& function) {
    for (LiveRow& row : rows_) {
      if (!row.times.failure.empty()) continue;
      try {
        function(row);
      } catch (const std::exception& e) {
        row.times.failure = device::error_line(e);
        row.session.reset();
      }
    }
  }

  // The losses of fp32 autograd on the CPU. Without them, because it fails, no loss is right.
  std::vector<double> reference_losses() const {
    RowPlan plan = rows_.front().plan;
    plan.device = c10::kCPU;
    plan.config.training.step = config::StepKind::kAutograd;
    plan.config.precision = config::Precision::kFp32;
    try {
      RowSession session(plan, options_.num_threads);
      std::vector<double> losses;
      first_losses(session, losses);
      return losses;
    } catch (const std::exception& e) {
      log::warning(fmt::format("no reference for the losses of {}: {}", workload_name(plan.setting),
                               device::error_line(e)));
      return {};
    }
  }

  // Returns the times of the steps; fewer than asked for if the time runs out.
  std::vector<double> first_losses(RowSession& session, std::vector<double>& losses) const {
    const Stopwatch stopwatch;
    std::vector<double> times;
    do {
      times.push_back(session.step());
      losses.push_back(session.loss());
    } while (std::ssize(losses) < options_.check_steps &&
             stopwatch.seconds() < options_.max_seconds / 4);
    return times;
  }

  void prepare(LiveRow& row, const std::vector<double>& reference, int64_t process_bytes) const {
    log::show_status("preparing " + row_name(row.plan.setting));
    RowPeak peak(row.plan.device, process_bytes);
    row.session = std::make_unique<RowSession>(row.plan, options_.num_threads);
    std::vector<double> losses;
    row.first_steps = first_losses(*row.session, losses);
    peak.sample();
    const double difference = relative_difference(losses, reference);
    // Keeps NaN, as no comparison with it is true.
    if (!(difference <= row.times.loss_difference)) row.times.loss_difference = difference;
    warm_up(row);
    row.usual_ms = median(
        {row.first_steps.end() - (std::ssize(row.first_steps) + 1) / 2, row.first_steps.end()});
    watch_growth(row, peak);
    row.times.peak_memory_bytes = std::max(row.times.peak_memory_bytes, peak.bytes());
  }

  // After the last step of both.
  static double relative_difference(const std::vector<double>& losses,
                                    const std::vector<double>& reference) {
    const std::size_t count = std::min(losses.size(), reference.size());
    if (count == 0) return std::nan("");
    return std::abs(losses[count - 1] - reference[count - 1]) / std::abs(reference[count - 1]);
  }

  void warm_up(LiveRow& row) const {
    const Stopwatch stopwatch;
    for (int64_t step = 0; stopwatch.seconds() < options_.max_seconds / 4; ++step) {
      if (step >= options_.warmup_steps &&
          (options_.warmup_steps == 0 || stopwatch.seconds() > kWarmupSeconds)) {
        break;
      }
      row.first_steps.push_back(row.session->step());
    }
  }

  void watch_growth(LiveRow& row, RowPeak& peak) const {
    const MemoryInUse before = memory_in_use(row.plan.device);
    const Stopwatch stopwatch;
    int64_t steps = 0;
    while (steps < options_.growth_steps && stopwatch.seconds() < options_.max_seconds / 10) {
      row.session->step();
      peak.sample();
      ++steps;
    }
    const MemoryInUse after = memory_in_use(row.plan.device);
    const int64_t growth = std::max(after.process - before.process, after.device - before.device);
    row.times.memory_growth_bytes = std::max(row.times.memory_growth_bytes, growth);
    row.times.growth_steps = steps;
  }

  // The slowest row decides, so that all have the same rounds.
  int64_t count_rounds() const {
    double slowest = 0;
    for (const LiveRow& row : rows_) slowest = std::max(slowest, 1e-3 * row.usual_ms);
    const double affordable = slowest > 0 ? options_.max_seconds / slowest : kNumRounds;
    const auto rounds =
        static_cast<int64_t>(std::clamp<double>(affordable, kMinRounds, kNumRounds));
    return std::min(rounds, options_.steps);
  }

  // One or more timed steps, after others that are not timed.
  void take_turn(LiveRow& row, int64_t round, int64_t num_rounds) const {
    log::show_status(
        fmt::format("round {} of {}: {}", round + 1, num_rounds, row_name(row.plan.setting)));
    const bool warms_up = options_.warmup_steps > 0;
    // A step that takes longer is disturbed only at its beginning.
    if (warms_up && row.usual_ms < 5 * kSettleMs) make_steps(row, kSettleMs);
    CpuWatch watch;
    watch.start();
    const Stopwatch watched;
    if (warms_up && row.usual_ms < kWatchMs) make_steps(row, kWatchMs);
    const int64_t count =
        options_.steps * (round + 1) / num_rounds - options_.steps * round / num_rounds;
    const Stopwatch stopwatch;
    std::vector<double> times;
    do {
      times.push_back(row.session->step());
    } while (std::ssize(times) < count &&
             stopwatch.seconds() < options_.max_seconds / static_cast<double>(num_rounds));
    if (const std::optional<double> lost = watch.lost_seconds()) {
      row.times.lost_shares.push_back(*lost / watched.seconds());
    }
    std::vector<double>& all = row.times.repetitions.back();
    all.insert(all.end(), times.begin(), times.end());
    row.times.round_medians.push_back(median(std::move(times)));
  }

  static void make_steps(LiveRow& row, double ms) {
    double sum = 0;
    while (sum < ms) sum += row.session->step();
  }

  static void finish(LiveRow& row) {
    if (!row.times.failure.empty()) return;
    const double steady = kSteady * median(row.times.repetitions.back());
    row.times.first_step_ms = row.first_steps.front();
    row.times.warmup_ms = 0;
    for (const double ms : row.first_steps) {
      if (ms <= steady) break;
      row.times.warmup_ms += ms;
    }
  }

  const Options& options_;
  std::vector<LiveRow> rows_;
};

// The rows of each workload that are to be measured a `repetition`-th time.
std::map<std::string, std::vector<std::size_t>> rows_by_workload(
    const Plan& plan, std::span<const int64_t> repetitions, int64_t repetition,
    std::vector<std::string>& order) {
  std::map<std::string, std::vector<std::size_t>> rows;
  for (std::size_t i = 0; i < plan.rows.size(); ++i) {
    if (repetitions[i] <= repetition) continue;
    const std::string name = workload_name(plan.rows[i].setting);
    if (rows[name].empty()) order.push_back(name);
    rows[name].push_back(i);
  }
  return rows;
}

Row make_row(const RowPlan& plan, const Options& options, const RowTimes& times) {
  Row row{.setting = plan.setting,
          .step_ms = {},
          .round_medians = times.round_medians,
          .repetition_medians = {},
          .asked_steps = options.steps,
          .first_step_ms = times.first_step_ms,
          .warmup_ms = times.warmup_ms,
          .peak_memory_bytes = times.peak_memory_bytes,
          .memory_growth_bytes = times.memory_growth_bytes,
          .growth_steps = times.growth_steps,
          .loss_difference = times.loss_difference,
          .max_loss_difference = plan.max_loss_difference};
  std::vector<double> all;
  for (const std::vector<double>& steps : times.repetitions) {
    row.repetition_medians.push_back(median(steps));
    all.insert(all.end(), steps.begin(), steps.end());
  }
  row.step_ms = summarize(std::move(all));
  if (!times.lost_shares.empty()) row.lost_share = summarize(times.lost_shares).upper_quartile;
  return row;
}

}  // namespace

std::vector<RowTimes> measure(const Plan& plan, const Options& options,
                              std::span<const int64_t> repetitions) {
  std::vector<RowTimes> times(plan.rows.size());
  const int64_t most =
      repetitions.empty() ? 0 : *std::max_element(repetitions.begin(), repetitions.end());
  // Repetitions of a row are spread over time, so that they show how it drifts.
  for (int64_t repetition = 0; repetition < most; ++repetition) {
    std::vector<std::string> order;
    const auto rows = rows_by_workload(plan, repetitions, repetition, order);
    for (const std::string& name : order) {
      WorkloadRun run(options);
      for (const std::size_t i : rows.at(name)) {
        if (times[i].failure.empty()) run.add(plan.rows[i], times[i]);
      }
      run.measure();
    }
  }
  log::clear_status();
  return times;
}

Results collect(const Plan& plan, const Options& options, std::span<const RowTimes> times) {
  Results results;
  results.absent = plan.absent;
  for (std::size_t i = 0; i < plan.rows.size(); ++i) {
    if (!times[i].failure.empty()) {
      results.failures.push_back({row_name(plan.rows[i].setting), times[i].failure});
    } else if (!times[i].repetitions.empty()) {
      results.rows.push_back(make_row(plan.rows[i], options, times[i]));
    }
  }
  return results;
}

}  // namespace trainer::bench
