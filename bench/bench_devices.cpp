// SPDX-License-Identifier: Apache-2.0
// Compares the devices, precisions and steps of this machine by their time for a training step, or
// for a forward pass: bench_devices --help. Its modules are in devices/.
#include <stdlib.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/io/atomic_file.h"
#include "trainer/base/io/log.h"
#include "trainer/base/io/terminal.h"
#include "trainer/base/parallel/cpus.h"
#include "trainer/base/text/json.h"
#include "trainer/base/version.h"
#include "trainer/run/folder/system_info.h"
#include "trainer/torch/device/device.h"

#include "devices/baseline.h"
#include "devices/google.h"
#include "devices/history.h"
#include "devices/measurement.h"
#include "devices/options.h"
#include "devices/plan.h"
#include "devices/results.h"
#include "devices/table.h"

namespace trainer::bench {
namespace {

constexpr double kQuietLoad = 0.5;

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

Json make_context(const Options& options, const device::AvailableDevices& available, double load) {
  Json system = run::system_info();
  system["accelerators"] = device::describe_accelerators(available);
  return {{"time", run::timestamp()},
          {"load_average", load},
          {"system", system},
          {"options", to_json(options)}};
}

std::string configuration_text(const Options& options) {
  if (options.config_files.empty()) return "";
  std::string text = "Configuration:";
  for (const std::string& file : options.config_files) text += " " + file;
  for (const config::Override& change : options.overrides) {
    text += fmt::format(" {}={}", change.key, change.value);
  }
  return text + "\n";
}

std::string conditions_text(const Json& context, const Options& options) {
  const auto& system = context.at("system");
  const BuildInfo& build = build_info();
  const bool is_inference = options.pass == Pass::kInference;
  return fmt::format(
      "BENCHMARK COMPARISON: {}, {} warm-up and {} timed {}\n"
      "{}, {} threads; LibTorch {}, BLAS {}\nAccelerators: {}\ntrainer {} ({}{}), {}, {}\n{}\n",
      is_inference ? "forward pass (inference)" : "training step", options.warmup_steps,
      options.steps, is_inference ? "passes" : "steps",
      system.at("host").at("cpu").get<std::string>(), options.num_threads, build.libtorch,
      system.at("blas").get<std::string>(), accelerators_text(context), build.version,
      build.git_commit.substr(0, 12), build.git_dirty ? ", modified" : "", build.compiler,
      build.build_type, configuration_text(options));
}

double geometric_mean_ms(const Results& results) {
  std::vector<double> medians;
  medians.reserve(results.rows.size());
  for (const Row& row : results.rows) medians.push_back(row.step_ms.median);
  return geometric_mean(medians);
}

void append_history(const Options& options, const Results& results,
                    const std::optional<Comparison>& comparison, bool passed) {
  const bool is_busy =
      std::any_of(results.rows.begin(), results.rows.end(),
                  [&](const Row& row) { return was_disturbed(row, options.max_lost); }) ||
      (comparison && num_with(*comparison, Change::kNotCompared) > 0);
  HistoryLine line;
  line.time = results.context.at("time").get<std::string>();
  line.git_commit = build_info().git_commit;
  line.verdict = !passed ? "failed" : is_busy ? "busy" : comparison ? "ok" : "measured";
  line.num_rows = static_cast<int64_t>(results.rows.size());
  line.geometric_mean_ms = geometric_mean_ms(results);
  if (comparison) {
    line.num_slower = num_with(*comparison, Change::kSlower);
    if (const RowChange* slowest = worst(*comparison)) {
      line.worst_row = slowest->name;
      line.worst_percent = slowest->percent;
    }
  }
  append_history(options.history, line);
}

// Prints and writes all requested output; returns whether every check has passed.
bool report(const Options& options, const Results& results, const std::optional<Results>& baseline,
            std::FILE* out) {
  fmt::print(out, "{}{}", conditions_text(results.context, options), comparison_table(results));
  bool passed = is_sound(results);
  std::optional<Comparison> comparison;
  if (baseline) {
    comparison = compare(*baseline, results, {options.max_slowdown, options.max_lost});
    fmt::print(out, "\n{}", comparison_text(*comparison, options.max_slowdown));
    passed = passed && num_with(*comparison, Change::kSlower) == 0;
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

// The message if nothing is to be measured.
int nothing_to_measure(const Plan& plan) {
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
  std::optional<Results> baseline;  // read before measuring, which takes a minute
  if (!options.baseline.empty()) baseline = read_results(options.baseline);

  const double load = load_average();
  const device::AvailableDevices available = device::available_devices();
  device::use_deterministic_algorithms(available);  // as a run does
  const Plan plan = make_plan(options, available);
  GoogleRows google(plan, options);
  const std::vector<int64_t> repetitions = google.requested_repetitions();
  if (google.only_lists()) return 0;
  if (std::count(repetitions.begin(), repetitions.end(), 0) == std::ssize(repetitions)) {
    return nothing_to_measure(plan);
  }
  warn_about_load(load);
  const std::vector<RowTimes> times = measure(plan, options, repetitions);
  google.report(times);
  Results results = collect(plan, options, times);
  results.context = make_context(options, available, load);
  // If Google Benchmark prints its own format, standard output is used for that.
  std::FILE* out = google.has_own_display() ? stderr : stdout;
  return report(options, results, baseline, out) ? 0 : exit_code(ErrorKind::kRuntime);
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
