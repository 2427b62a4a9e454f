// SPDX-License-Identifier: Apache-2.0
// `trainer train`, which is also what the program does without a command.
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/io/atomic_file.h"
#include "trainer/base/io/log.h"
#include "trainer/base/signals.h"
#include "trainer/base/text/document.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/json.h"
#include "trainer/base/text/print_safely.h"
#include "trainer/config/logging_config.h"
#include "trainer/diagnose/profile/profile.h"
#include "trainer/launch/place.h"
#include "trainer/metrics/report.h"
#include "trainer/metrics/score.h"
#include "trainer/run/folder/run_dir.h"
#include "trainer/table/cached/load.h"
#include "trainer/table/dataset.h"
#include "trainer/workflows/experiments/runs.h"

#include "cli/commands.h"
#include "cli/libraries.h"
#include "cli/print_document.h"
#include "cli/progress_bar.h"
#include "cli/resolve_config.h"
#include "cli/time_measurement.h"
#include "cli/train_runs.h"
#include "cli/typed_line.h"

namespace trainer::cli {
namespace {

log::Level console_level(Verbosity verbosity, config::LogLevel configured) {
  switch (verbosity) {
    case Verbosity::kQuiet:
    case Verbosity::kAgent:
      return log::Level::kWarning;
    case Verbosity::kVerbose:
      return log::Level::kDebug;
    case Verbosity::kNormal:
      break;
  }
  return config::log_level(configured);
}

std::string stopped_text(const engine::TrainReport& report) {
  return fmt::format("by {}; resume with: trainer --resume {}", signal_name(report.stop_signal),
                     shell_word(short_path(report.run_dir)));
}

void add_recoveries(const checkpoint::Recoveries& recoveries, Document& document) {
  if (recoveries.skipped_steps > 0) {
    const int64_t skipped = recoveries.skipped_steps;
    document.line("skipped",
                  fmt::format("{} with a non-finite loss or gradient", counted(skipped, "step")));
  }
  if (recoveries.rollbacks > 0) {
    document.line("rollbacks",
                  fmt::format("{}, each with half the learning rate", recoveries.rollbacks));
  }
  if (const int64_t times = recoveries.out_of_memory; times > 0) {
    const int64_t rows = recoveries.micro_batch_size;
    const std::string device = recoveries.has_fallen_back ? " on the CPU" : "";
    const std::string batch =
        rows > 0 ? fmt::format(" with micro-batches of {}", counted(rows, "row")) : "";
    document.line("memory",
                  fmt::format("ran out {}; the run continued{}{}",
                              times == 1 ? "once" : fmt::format("{} times", times), device, batch));
  }
  if (recoveries.overflowed_steps > 0) {
    document.line("overflows", fmt::format("{} retried with a smaller loss scale",
                                           counted(recoveries.overflowed_steps, "step")));
  }
}

// Shows the metrics of the best epoch by split, and the details of the last split.
void add_metrics(const engine::TrainReport& report, Document& document) {
  const std::optional<metrics::Report>& last = report.test ? report.test : report.validation;
  if (!last) return;
  const std::string split = report.test ? "test" : "validation";
  std::vector<metrics::ScoreColumn> before;
  if (report.test && report.validation) {
    before.push_back({"validation", metrics::all_scores(*report.validation)});
  }
  document.append(metrics::scores_document(split, *last, std::move(before)));
  document.append(metrics::details_document(
      *last, fmt::format("{} split, {}:", split, counted(last->num_rows, "row"))));
}

Document results_document(const engine::TrainReport& report) {
  Document document;
  const bool is_cut = report.stopped_early && report.epochs < report.planned_epochs;
  document.line(
      "trained",
      fmt::format("{}{}, {} in {}{}", counted(report.epochs, "epoch"),
                  is_cut ? fmt::format(" of {}", with_thousands(report.planned_epochs)) : "",
                  counted(report.steps, "step"), human_duration(report.time_seconds),
                  is_cut ? " (stopped early)" : ""));
  if (report.best) {
    document.line("best epoch", fmt::format("{} ({} {})", report.best->epoch, report.best_metric,
                                            metrics::loss_text(report.best->value)));
  }
  add_recoveries(report.recoveries, document);
  add_metrics(report, document);
  document.line("run folder", short_path(report.run_dir));
  if (report.stop_signal != 0) {
    document.line("stopped", stopped_text(report));
  } else {
    document.line("next", "trainer report; trainer explain; trainer predict new.csv");
  }
  return document;
}

/// Returns summary.json with the path of the run folder; for a stopped run, how far it got.
Json results_json(const engine::TrainReport& report) {
  Json json = {{"run_folder", report.run_dir.string()}};
  if (report.stop_signal != 0) {
    json["stopped"] = signal_name(report.stop_signal);
    json["epochs"] = report.epochs;
    json["steps"] = report.steps;
  } else {
    json.update(JsonReader::of_file(run::RunDir{report.run_dir}.summary()).json());
  }
  return json;
}

// Logs the results as a JSON record for programs that read the log.
void record_results(const engine::TrainReport& report) {
  if (!log::has_json()) return;
  if (report.stop_signal != 0) {
    log::record("stopped", "stopped " + stopped_text(report), results_json(report),
                log::Level::kWarning);
  } else {
    log::record("result", "complete: " + short_path(report.run_dir), results_json(report));
  }
}

// This never throws: the terminal may be closed (SIGHUP), and main() checks for write errors.
void print_out(const std::string& text) { std::fputs(safe_for_terminal(text).c_str(), stdout); }

class TrainCommand : public Command {
 public:
  bool takes_configuration() const override { return true; }

  std::string footer() const override {
    return "\ntrainer help KEY describes a key of the configuration.\n";
  }

  std::vector<Option> options() override {
    return {{"--json", &json_, "", "Print the results of a run as JSON"},
            {"--timing", &timing_, "", "Show where the time went, at the end"},
            time_.trace_option()};
  }

  int run(const CommonOptions& common) override {
    refuse_no_configuration(common);
    const config::Config draft = choose_log_format(common);
    if (const std::unique_ptr<Command> series = find_series(common, draft)) {
      return run_series(*series, common);
    }
    if (timing_ || time_.has_trace()) time_.start();
    engine::TrainRequest request = make_request(common);
    if (is_only_process()) {
      start_loading_engine();  // takes half a second, while the data are read
      request.data = read_data(request);
    }
    const engine::TrainReport report = engine_library().train(request);
    log::clear_status();
    run_folder_ = report.run_dir;
    if (report.is_first) {
      record_results(report);
      show_results(report, common.verbosity);
      if (time_.has_started()) write_times(report);
    }
    log::close_file();
    return report.stop_signal == 0 ? 0 : 128 + report.stop_signal;
  }

 private:
  void show_results(const engine::TrainReport& report, Verbosity verbosity) const {
    if (json_) {
      print_out(result_text(results_json(report)));
    } else if (log::console_format() == log::Format::kJson) {
      // Nothing to show: the log on the console already has the results as JSON.
    } else if (verbosity != Verbosity::kQuiet) {
      print_out(shown_text(results_document(report)));
    } else if (report.stop_signal != 0) {
      log::warning("stopped " + stopped_text(report));
    }
  }

  // Shows the times, on standard error if standard output is JSON, and writes them to the run
  // folder unless the run was complete before.
  void write_times(const engine::TrainReport& report) const {
    const Document times = profile::profile_document(time_.finish(report.workload));
    const Json json = times.json();
    const std::filesystem::path file = run::RunDir{report.run_dir}.timing();
    if (report.has_written) write_file_atomically(file, json.dump(2) + "\n");
    if (!timing_) return;
    log::record("timing", "where the time went: " + short_path(file), json);
    if (log::console_format() == log::Format::kText) {
      const std::string text = safe_for_terminal(shown_text(times));
      std::fputs(("\n" + text).c_str(), json_ ? stderr : stdout);
    }
  }

  // The command that trains several models, or that trained those in the folder to resume; nothing
  // for a single run.
  static std::unique_ptr<Command> find_series(const CommonOptions& common,
                                              const config::Config& draft) {
    if (!common.resume || common.resume == kResumeAuto) {
      return draft.members > 1 ? make_command("ensemble") : nullptr;
    }
    const std::string command = experiments::series_command(*common.resume);
    return command.empty() ? nullptr : make_command(command);
  }

  int run_series(Command& series, const CommonOptions& common) {
    if (timing_ || time_.has_trace()) {
      throw Error(ErrorKind::kUsage,
                  "--timing and --trace measure one model; add members=1 to train one");
    }
    if (json_) series.print_json();
    Problems no_problems;
    series.check(common, no_problems);
    const int exit_code = series.run(common);
    run_folder_ = series.run_folder();
    return exit_code;
  }

  static void refuse_no_configuration(const CommonOptions& common) {
    const bool names_a_run = common.resume && common.resume != kResumeAuto;
    if (names_a_run || !common.config_files.empty() || !common.overrides.empty()) return;
    throw Error(
        ErrorKind::kUsage,
        "expected a configuration, got nothing; try trainer --config configs/train.yaml, or "
        "trainer --help");
  }

  // Returns nothing if the launcher's variables are wrong. The engine reports that, unless the
  // configuration makes them irrelevant.
  static std::optional<launch::Place> known_place() {
    try {
      return launch::find_place(launch::process_environment);
    } catch (const Error&) {
      return std::nullopt;
    }
  }

  // Returns whether this is one of several processes, but not rank 0.
  static bool is_other_rank() {
    const std::optional<launch::Place> place = known_place();
    return place && place->rank > 0;
  }

  // Processes that train together read their data later, when each can tell the others about
  // errors.
  static bool is_only_process() {
    const std::optional<launch::Place> place = known_place();
    return place && place->launcher == launch::Launcher::kNone;
  }

  static std::shared_ptr<data::Datasets> read_data(const engine::TrainRequest& request) {
    const data::Schema* trained = request.resume ? &request.resume->checkpoint.schema : nullptr;
    return std::make_shared<data::Datasets>(cache::load_for_run(request.config.config, trained));
  }

  // If several processes resume a run, only rank 0 opens its folder for writing.
  static ResolvedConfig resolve(const CommonOptions& common) {
    if (!is_other_rank()) return resolve_config(common, checkpoint::OpenMode::kResume);
    ResolvedConfig resolved = resolve_config(common, checkpoint::OpenMode::kReadOnly);
    if (resolved.config.config.distributed.enabled == config::Distributed::kAuto) return resolved;
    return resolve_config(common, checkpoint::OpenMode::kResume);
  }

  static engine::TrainRequest make_request(const CommonOptions& common) {
    ResolvedConfig resolved = resolve(common);
    const config::LoggingConfig& logging = resolved.config.config.logging;
    log::set_console_level(console_level(common.verbosity, logging.level));
    log::set_console_format(config::console_format(logging.format));
    engine::TrainRequest request;
    request.config = std::move(resolved.config);
    request.resume = std::move(resolved.resume);
    request.on_change = common.allow_changes ? engine::OnChange::kAllow : engine::OnChange::kRefuse;
    if (common.resume == kResumeAuto) request.new_run = engine::NewRun::kUnlessStarted;
    request.command_line = common.command_line;
    request.progress = make_progress_listener();
    if (const int64_t members = request.config.config.members; members > 1) {
      throw Error(
          ErrorKind::kUsage,
          fmt::format("members: expected 1 for a single run, got {}; train an ensemble from "
                      "a configuration in a file, not a pipe, and without --resume of a run",
                      members));
    }
    return request;
  }

  bool timing_ = false;
  TimeMeasurement time_;
};

}  // namespace

std::unique_ptr<Command> make_train_command() { return std::make_unique<TrainCommand>(); }

}  // namespace trainer::cli
