// SPDX-License-Identifier: Apache-2.0
#include "devices/google.h"

#include <algorithm>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "trainer/base/error.h"

namespace trainer::bench {
namespace {

/// Prints nothing.
class SilentReporter : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& /*context*/) override { return true; }
  void ReportRuns(const std::vector<Run>& /*runs*/) override {}
};

// An unknown flag it has reported itself.
void initialize(std::vector<std::string>& words) {
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  int argc = static_cast<int>(words.size());
  benchmark::Initialize(&argc, argv.data());
  if (argc > 1) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format("{}: unknown Google Benchmark flag; see bench_devices --help", argv[1]));
  }
}

// The number of iterations is fixed, so steps that the time limit has left out count as average.
void replay(benchmark::State& state, const std::vector<double>& step_ms) {
  const Summary summary = summarize(step_ms);
  std::size_t i = 0;
  for (auto _ : state) {
    state.SetIterationTime(1e-3 * (i < step_ms.size() ? step_ms[i] : summary.average));
    ++i;
  }
  // Not 0: Google Benchmark writes the variation of zeros as NaN, which is not JSON.
  state.counters["median_ms"] = summary.median;
  state.counters["min_ms"] = summary.min;
  state.counters["max_ms"] = summary.max;
}

void report_row(benchmark::State& state, const RowPlan& plan, const RowTimes& times,
                std::size_t repetition) {
  if (!times.failure.empty() || repetition >= times.repetitions.size()) {
    state.SkipWithError(times.failure.c_str());
    return;
  }
  replay(state, times.repetitions[repetition]);
  state.SetItemsProcessed(state.iterations() * plan.setting.batch_size);
  state.counters["first_step_ms"] = times.first_step_ms;
  state.counters["peak_bytes"] = static_cast<double>(times.peak_memory_bytes);
}

}  // namespace

GoogleRows::GoogleRows(const Plan& plan, const Options& options)
    : options_(options),
      words_({"bench_devices"}),
      requested_(plan.rows.size()),
      reported_(plan.rows.size()) {
  words_.insert(words_.end(), options.google_arguments.begin(), options.google_arguments.end());
  initialize(words_);
  for (std::size_t i = 0; i < plan.rows.size(); ++i) {
    const RowPlan& row = plan.rows[i];
    const auto call = [this, &row, i](benchmark::State& state) {
      if (!times_.empty()) return report_row(state, row, times_[i], reported_[i]++);
      ++requested_[i];
      for (auto _ : state) state.SetIterationTime(1);
    };
    auto* registered = benchmark::RegisterBenchmark(row_name(row.setting).c_str(), call);
    registered->Unit(benchmark::kMillisecond)->UseManualTime()->Iterations(options.steps);
    if (options.num_checks > 0) registered->Repetitions(static_cast<int>(options.num_checks));
  }
}

const std::vector<int64_t>& GoogleRows::requested_repetitions() {
  SilentReporter silent;
  if (!requested_.empty()) benchmark::RunSpecifiedBenchmarks(&silent);
  return requested_;
}

void GoogleRows::report(std::span<const RowTimes> times) {
  times_ = times;
  SilentReporter silent;
  benchmark::RunSpecifiedBenchmarks(has_own_display() ? nullptr : &silent);
  benchmark::Shutdown();
}

bool GoogleRows::has_flag(const std::string& flag) const {
  return std::any_of(options_.google_arguments.begin(), options_.google_arguments.end(),
                     [&](const std::string& argument) { return argument.starts_with(flag); });
}

}  // namespace trainer::bench
