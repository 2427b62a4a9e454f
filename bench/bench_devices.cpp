// SPDX-License-Identifier: Apache-2.0
// Compares the devices, precisions and steps of this machine by their time for a training step:
// bench_devices --help. Its modules are in devices/.
#include <stdlib.h>

#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "trainer/core/atomic_file.h"
#include "trainer/core/cpus.h"
#include "trainer/core/error.h"
#include "trainer/core/json.h"
#include "trainer/core/log.h"
#include "trainer/core/standard_streams.h"
#include "trainer/core/version.h"
#include "trainer/device/device.h"
#include "trainer/run/system_info.h"

#include "devices/baseline.h"
#include "devices/history.h"
#include "devices/measurement.h"
#include "devices/options.h"
#include "devices/results.h"
#include "devices/table.h"

namespace trainer::bench {
namespace {

constexpr double kQuietLoad = 0.5;

/// Prints nothing: the table comes at the end.
class SilentReporter : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& /*context*/) override { return true; }
  void ReportRuns(const std::vector<Run>& /*runs*/) override {}
};

bool has_google_flag(const Options& options, const std::string& flag) {
  for (const std::string& argument : options.google_arguments) {
    if (argument.starts_with(flag)) return true;
  }
  return false;
}

std::vector<std::string> google_command_line(const Options& options) {
  std::vector<std::string> words = {"bench_devices"};
  // Measures all rows once, then all again: repetitions at different times show drift.
  if (options.num_checks > 0) words.emplace_back("--benchmark_enable_random_interleaving=true");
  words.insert(words.end(), options.google_arguments.begin(), options.google_arguments.end());
  return words;
}

// `words` must outlive the benchmarks: Google Benchmark keeps a pointer to the program name for
// its JSON. Throws Error(kUsage) for an unknown flag, which Google Benchmark has reported itself.
void initialize_google(std::vector<std::string>& words) {
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

// The load average of the last minute.
double load_average() {
  double load = 0;
  return getloadavg(&load, 1) == 1 ? load : 0;
}

void warn_about_load(double load) {
  if (load <= kQuietLoad) return;
  log::warning(
      fmt::format("other programs are using the CPU (load average {:.1f}): steps may be many times "
                  "slower and vary",
                  load));
}

Json make_context(const Options& options, double load) {
  return {{"time", run::timestamp()},
          {"load_average", load},
          {"system", run::system_info()},
          {"options", to_json(options)}};
}

std::string conditions_text(const Json& context, const Options& options) {
  const auto& system = context.at("system");
  const BuildInfo& build = build_info();
  return fmt::format(
      "BENCHMARK COMPARISON: training step, {} warm-up and {} timed steps\n"
      "{}, {} threads; LibTorch {}, BLAS {}\ntrainer {} ({}{}), {}, {}\n\n",
      options.warmup_steps, options.steps, system.at("host").at("cpu").get<std::string>(),
      options.num_threads, build.libtorch, system.at("blas").get<std::string>(), build.version,
      build.git_commit.substr(0, 12), build.git_dirty ? ", modified" : "", build.compiler,
      build.build_type);
}

double geometric_mean_ms(const Results& results) {
  std::vector<double> medians;
  medians.reserve(results.rows.size());
  for (const Row& row : results.rows) medians.push_back(row.step_ms.median);
  return geometric_mean(medians);
}

int64_t num_wrong(const Results& results) {
  int64_t wrong = 0;
  for (const Row& row : results.rows) wrong += has_right_loss(row) ? 0 : 1;
  return wrong;
}

void append_history(const Options& options, const Results& results,
                    const std::optional<Comparison>& comparison, bool passed) {
  HistoryLine line;
  line.time = results.context.at("time").get<std::string>();
  line.git_commit = build_info().git_commit;
  line.verdict = !passed ? "failed" : comparison ? "ok" : "measured";
  line.num_rows = static_cast<int64_t>(results.rows.size());
  line.geometric_mean_ms = geometric_mean_ms(results);
  if (comparison) {
    line.num_slower = num_slower(*comparison);
    const RowChange* slowest = worst(*comparison);
    line.worst_row = slowest->name;
    line.worst_percent = slowest->percent;
  }
  append_history(options.history, line);
}

// Prints and writes all requested output; returns whether every check has passed.
bool report(const Options& options, const Results& results,
            const std::optional<Results>& baseline) {
  // If Google Benchmark prints its own format, standard output is used for that.
  std::FILE* out = has_google_flag(options, "--benchmark_format") ? stderr : stdout;
  fmt::print(out, "{}{}", conditions_text(results.context, options), comparison_table(results));
  bool passed = results.failures.empty() && num_wrong(results) == 0;
  std::optional<Comparison> comparison;
  if (baseline) {
    comparison = compare(*baseline, results, options.max_slowdown);
    fmt::print(out, "\n{}", comparison_text(*comparison, options.max_slowdown));
    passed = passed && num_slower(*comparison) == 0;
  }
  if (options.num_checks > 0) {
    const auto rows = consistency(results.rows);
    fmt::print(out, "\n{}", consistency_text(rows, options.max_variation));
    passed = passed && num_inconsistent(rows, options.max_variation) == 0;
  }
  std::fflush(out);
  if (!options.json.empty()) write_file_atomically(options.json, to_text(results));
  if (!options.history.empty()) append_history(options, results, comparison, passed);
  return passed;
}

// The message if nothing was measured.
int nothing_measured(const Options& options, const Plan& plan) {
  if (has_google_flag(options, "--benchmark_list_tests")) return 0;
  if (!plan.rows.empty()) {
    throw Error(ErrorKind::kUsage,
                "--benchmark_filter: matches no row; --benchmark_list_tests=true lists them");
  }
  Results results;
  results.absent = plan.absent;
  fmt::print("{}", comparison_table(results));
  throw Error(ErrorKind::kDevice,
              "none of the requested configurations is available on this machine");
}

int run(const std::vector<std::string>& arguments) {
  Options options = parse_options(arguments);
  if (!options.help.empty()) {
    fmt::print("{}", options.help);
    return 0;
  }
  if (options.num_threads == 0) options.num_threads = usable_cpus();
  std::vector<std::string> google_words = google_command_line(options);
  initialize_google(google_words);
  std::optional<Results> baseline;  // read before measuring, which takes minutes
  if (!options.baseline.empty()) baseline = read_results(options.baseline);

  Bench bench = make_bench(options, make_plan(options, device::available_devices()));
  register_rows(bench);
  SilentReporter silent;
  const bool has_own_display = has_google_flag(options, "--benchmark_format");
  const double load = load_average();
  if (!bench.plan.rows.empty()) {
    warn_about_load(load);
    benchmark::RunSpecifiedBenchmarks(has_own_display ? nullptr : &silent);
  }
  benchmark::Shutdown();
  Results results = collect(bench);
  if (results.rows.empty() && results.failures.empty()) {
    return nothing_measured(options, bench.plan);
  }
  results.context = make_context(options, load);
  return report(options, results, baseline) ? 0 : exit_code(ErrorKind::kRuntime);
}

}  // namespace
}  // namespace trainer::bench

int main(int argc, char** argv) {
  trainer::open_standard_streams();
  try {
    return trainer::bench::run({argv + 1, argv + argc});
  } catch (const trainer::Error& e) {
    trainer::log::error(e.what());
    return trainer::exit_code(e.kind());
  } catch (const std::exception& e) {
    trainer::log::error(e.what());
    return trainer::exit_code(trainer::ErrorKind::kRuntime);
  }
}
