// SPDX-License-Identifier: Apache-2.0
#include "engine/train_run.h"

#include <algorithm>
#include <ctime>
#include <fstream>
#include <memory>
#include <sstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "trainer/config/dump.h"
#include "trainer/config/fields.h"
#include "trainer/core/atomic_file.h"
#include "trainer/core/error.h"
#include "trainer/core/folder_lock.h"
#include "trainer/core/log.h"
#include "trainer/core/signals.h"
#include "trainer/core/version.h"
#include "trainer/cpu/kernels.h"
#include "trainer/data/dataset.h"
#include "trainer/metrics/report_text.h"
#include "trainer/run/run_dir.h"
#include "trainer/run/system_info.h"
#include "trainer/schedule/learning_rate.h"
#include "trainer/train/fit.h"

#include "engine/decisions.h"
#include "engine/resume_guard.h"
#include "engine/run_header.h"

namespace trainer::engine {
namespace {

using Json = nlohmann::ordered_json;

/// Where a run is written.
struct Place {
  run::RunDir run;
  uint64_t metrics_bytes = 0;  // of metrics.jsonl, from before the checkpoint
  std::shared_ptr<FolderLock> lock;
};

// The run folder that the resumed checkpoint lies in, or an empty path.
std::filesystem::path resumed_folder(const TrainRequest& request) {
  return request.resume ? run::find_run_dir(request.resume->file) : std::filesystem::path();
}

// With its configuration in it, by which others know it.
Place make_place(const config::Config& config, const std::string& resolved) {
  const run::RunDir run = run::create_run_dir(config.output_dir, config.tag, std::time(nullptr));
  Place place{run, 0, std::make_shared<FolderLock>(run.root)};
  write_file_atomically(run.config(), resolved);
  return place;
}

// Of several processes that begin one run at the same time, the first does.
Place make_place_unless_begun(const config::Config& config, const std::string& resolved) {
  std::error_code ignored;
  std::filesystem::create_directories(config.output_dir, ignored);  // else make_place() says why
  if (!std::filesystem::is_directory(config.output_dir, ignored)) {
    return make_place(config, resolved);
  }
  const FolderLock turn(config.output_dir, FolderLock::WhenTaken::kWait);
  if (const auto at_work = checkpoint::find_same_run_at_work(config.output_dir, config);
      !at_work.empty()) {
    throw Error(ErrorKind::kFileSystem,
                fmt::format("{}: another process began this run meanwhile; wait until it has ended",
                            at_work.string()));
  }
  if (checkpoint::find_same_run(config.output_dir, config, checkpoint::OpenMode::kReadOnly)) {
    throw Error(ErrorKind::kFileSystem,
                fmt::format("{}: another process made this run meanwhile; start again to go on "
                            "with it",
                            config.output_dir));
  }
  return make_place(config, resolved);
}

Place choose_place(const TrainRequest& request, const std::string& resolved) {
  if (const auto root = resumed_folder(request); !root.empty()) {
    Place place{{root}, request.resume->checkpoint.metrics_bytes, request.resume->lock};
    write_file_atomically(place.run.config(), resolved);
    return place;
  }
  const config::Config& config = request.config.config;
  const bool is_only = request.new_run == NewRun::kUnlessStarted && !request.resume;
  return is_only ? make_place_unless_begun(config, resolved) : make_place(config, resolved);
}

// What a run folder holds at its largest: the kept checkpoints, the best, and the next one. A
// resumed run has the kept ones already.
void check_free_space(const train::Session& session, const TrainRequest& request) {
  const config::CheckpointConfig& config = session.config.checkpoint;
  const int64_t epoch_files = session.config.training.epochs / config.every_epochs + 1;
  const int64_t kept =
      std::min(config.keep_last, epoch_files) + (config.every_steps > 0 ? config.keep_last : 0);
  const std::filesystem::path resumed = resumed_folder(request);
  run::check_free_space(
      resumed.empty() ? std::filesystem::path(session.config.output_dir) : resumed,
      train::checkpoint_bytes(session), resumed.empty() ? kept + 2 : 2);
}

Json run_entry(const TrainRequest& request, const Decisions& decisions,
               const train::Session& session) {
  Json entry = {{"time", run::timestamp()},
                {"command_line", request.command_line},
                {"device", decisions.device.device.str()},
                {"device_reason", decisions.device.reason},
                {"precision", config::to_text(session.config.precision)},
                {"threads", decisions.threads.num_threads},
                {"threads_reason", decisions.threads.reason},
                {"step", step_text(session)}};
  for (const train::ThreadTrial& trial : decisions.thread_trials) {
    entry["thread_trials"].push_back(
        {{"threads", trial.num_threads}, {"step_seconds", trial.step_seconds}});
  }
  if (request.resume) entry["resumed_from"] = request.resume->file.string();
  return entry;
}

// Each start adds an entry to "starts"; what was written before stays.
void write_system_json(const run::RunDir& run, const TrainRequest& request,
                       const Decisions& decisions, const train::Session& session) {
  Json system = run::system_info();
  system["data_files"] = Json::array();
  for (const data::Fingerprint& file : session.data.fingerprints) {
    system["data_files"].push_back({{"path", file.path},
                                    {"num_bytes", file.num_bytes},
                                    {"crc32", fmt::format("{:08x}", file.crc32)}});
  }
  system["starts"] = Json::array();
  if (std::ifstream before(run.system()); before) {
    const Json old = Json::parse(before, nullptr, /*allow_exceptions=*/false);
    if (old.is_object() && old.contains("starts")) system["starts"] = old["starts"];
  }
  system["starts"].push_back(run_entry(request, decisions, session));
  write_file_atomically(run.system(), system.dump(2) + "\n");
}

log::Level log_level(config::LogLevel level) { return static_cast<log::Level>(level); }

void warn_of(const train::Session& session) {
  for (const std::string& warning : session.data.warnings) log::warning(warning);
  if (run::blas_info().is_slow && session.device.is_cpu() && !train::uses_kernels(session)) {
    log::warning(
        fmt::format("LibTorch computes with a slow BLAS ({}); install OpenBLAS (Debian: "
                    "libopenblas0-openmp) to train many times faster",
                    run::blas_info().name));
  }
}

// The folder as it was when the run stood where it goes on now.
void rewind(train::Session& session, const TrainRequest& request, const checkpoint::Store& store,
            bool has_changes) {
  if (!request.resume || store.rewind(request.resume->checkpoint, request.resume->file)) return;
  // Without changes the run will come to the better epoch that took its place again.
  if (!has_changes && std::filesystem::exists(store.best())) return;
  log::warning(
      fmt::format("the checkpoint of the best epoch so far ({}) is not there any more; "
                  "the search for the best epoch starts anew",
                  session.state.best->epoch));
  train::reset_best(session);
}

TrainReport report(train::Session& session, train::Output& output, const run::RunDir& run,
                   int stop_signal) {
  TrainReport report;
  report.run_dir = run.root;
  report.epochs = session.state.position.epoch;
  report.planned_epochs = session.config.training.epochs;
  report.steps = session.state.position.step;
  report.stopped_early = train::stopped_early(session);
  report.stop_signal = stop_signal;
  report.best = session.state.best;
  report.recoveries = session.state.recoveries;
  report.best_metric = fmt::format("{} {}", session.validation ? "validation" : "training",
                                   config::to_text(session.config.training.best_metric));
  if (stop_signal != 0) return report;
  train::BestReports reports = train::evaluate_best(session, output);
  report.validation = std::move(reports.validation);
  report.test = std::move(reports.test);
  return report;
}

// The console gets the result with the last lines of the command.
void log_details(const char* part, const std::optional<metrics::Report>& report) {
  if (!report) return;
  std::istringstream result(metrics::result_lines(part, *report));
  for (std::string line; std::getline(result, line);) log::note(line);
  std::istringstream lines(metrics::details_text(*report));
  for (std::string line; std::getline(lines, line);) log::info(line.empty() ? line : "  " + line);
}

// The results of a run that is complete.
void write_summary(const TrainReport& report, const run::RunDir& run) {
  Json summary = {{"run", run.root.filename().string()},
                  {"time", run::timestamp()},
                  {"epochs", report.epochs},
                  {"steps", report.steps},
                  {"stopped_early", report.stopped_early},
                  {"time_seconds", report.time_seconds}};
  if (report.best) {
    summary["best"] = {{"epoch", report.best->epoch},
                       {"metric", report.best_metric},
                       {"value", report.best->value}};
  }
  const checkpoint::Recoveries& recoveries = report.recoveries;
  summary["recoveries"] = {{"skipped_steps", recoveries.skipped_steps},
                           {"rollbacks", recoveries.rollbacks},
                           {"overflowed_steps", recoveries.overflowed_steps},
                           {"out_of_memory", recoveries.out_of_memory}};
  if (report.validation) summary["validation"] = metrics::to_json(*report.validation);
  if (report.test) summary["test"] = metrics::to_json(*report.test);
  write_file_atomically(run.summary(), summary.dump(2) + "\n");
}

}  // namespace

TrainReport run_training(const TrainRequest& request) {
  const Stopwatch stopwatch;
  const config::Config& config = request.config.config;
  const data::Schema* trained = request.resume ? &request.resume->checkpoint.schema : nullptr;
  data::Datasets data =
      data::load_datasets(config.data, static_cast<uint64_t>(config.seed), trained);
  const std::string changes = request.resume ? check_resume(request, data) : "";
  Decisions decisions = decide_device(config);
  config::Config decided = config;
  decided.precision = decisions.precision.precision;
  const auto session = train::make_session(decided, std::move(data), decisions.device.device);
  if (request.resume) {
    train::restore(*session, request.resume->checkpoint);
  } else if (!config.model.init_from.empty()) {
    train::load_initial_weights(*session, config.model.init_from, config.model.init_skip);
  }
  check_free_space(*session, request);
  decide_threads(
      *session,
      request.resume ? std::optional(request.resume->checkpoint.num_threads) : std::nullopt,
      decisions);

  // From here on the run is written down; everything that can be wrong before was found.
  const std::string resolved = config::dump(request.config);
  const auto [run, metrics_bytes, lock] = choose_place(request, resolved);
  remove_temporary_files(run.root);
  remove_temporary_files(run.checkpoints());
  write_system_json(run, request, decisions, *session);
  log::open_file(run.log(), log_level(config.logging.level));
  const checkpoint::Store store(run.checkpoints(), config.checkpoint.keep_last);
  rewind(*session, request, store, !changes.empty());
  train::Output output{.metrics = run::MetricsLog(run.metrics(), metrics_bytes),
                       .checkpoints = store,
                       .config = resolved,
                       .num_threads = decisions.threads.num_threads,
                       .progress = request.progress};
  log_header(*session, request, decisions, run);
  warn(decisions);
  warn_of(*session);
  if (!changes.empty()) log::warning(changes);
  if (train::finished(*session)) {
    log::info("this run is already complete");
  } else {
    std::error_code ignored;
    std::filesystem::remove(run.summary(), ignored);  // of fewer epochs
  }
  train::save_initial(*session, output);
  run::point_latest_to(run);  // a run that ends before leaves nothing to go on with
  watch_signals();
  const int stop_signal = train::fit(*session, output);
  unwatch_signals();
  TrainReport result = report(*session, output, run, stop_signal);
  result.time_seconds = stopwatch.seconds();
  if (stop_signal == 0) {
    log_details(result.test ? "test" : "validation", result.test ? result.test : result.validation);
    write_summary(result, run);
  }
  log::close_file();
  return result;
}

}  // namespace trainer::engine
