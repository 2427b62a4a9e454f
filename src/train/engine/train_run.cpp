// SPDX-License-Identifier: Apache-2.0
#include "train/engine/train_run.h"

#include <cstdint>
#include <exception>
#include <filesystem>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trainer/base/error.h"
#include "trainer/base/function_ref.h"
#include "trainer/base/io/atomic_file.h"
#include "trainer/base/io/log.h"
#include "trainer/base/signals.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/json.h"
#include "trainer/base/time/stopwatch.h"
#include "trainer/base/time/timeline.h"
#include "trainer/config/config.h"
#include "trainer/config/dump.h"
#include "trainer/config/fields.h"
#include "trainer/config/logging_config.h"
#include "trainer/config/recipe.h"
#include "trainer/report/html/report.h"
#include "trainer/report/tensorboard/run_events.h"
#include "trainer/run/checkpoint/store.h"
#include "trainer/run/folder/history.h"
#include "trainer/run/folder/run_dir.h"
#include "trainer/run/folder/superseded.h"
#include "trainer/table/cached/load.h"
#include "trainer/table/dataset.h"
#include "trainer/train/fit.h"

#include "train/engine/decisions.h"
#include "train/engine/processes.h"
#include "train/engine/run_folder.h"
#include "train/engine/run_records.h"
#include "train/engine/trial_runs.h"

namespace trainer::engine {
namespace {

/// A run before anything is written to disk.
struct PreparedRun {
  Stopwatch since_data;  // running since the data were read
  Decisions decisions;
  std::unique_ptr<train::Session> session;
  std::vector<std::string> changes;  // differences from the resumed run
};

data::Datasets take_data(TrainRequest& request) {
  if (request.data != nullptr) return std::move(*std::exchange(request.data, nullptr));
  return cache::load_for_run(request.config.config,
                             request.resume ? &request.resume->checkpoint.schema : nullptr);
}

// Completes the configuration and finds everything that can be wrong with the request.
PreparedRun prepare(TrainRequest& request, const Processes& processes) {
  const TimedStage timed(Stage::kPrepare);
  config::Config& config = request.config.config;
  data::Datasets data = take_data(request);
  config::complete_recipe(config, data::recipe_facts(data));
  PreparedRun run;
  if (request.resume) run.changes = check_resume(request, data);
  keep_order(request, data, config);
  decide_shards(request, processes, config);
  const bool may_choose_precision =
      !request.resume && !request.config.origins.contains("precision");
  run.decisions =
      decide_device(config, data, processes.place,
                    may_choose_precision ? MayChoosePrecision::kYes : MayChoosePrecision::kNo);
  if (config.device == "fastest") {
    config.precision = run.decisions.precision.precision;
    if (may_choose_precision) request.config.origins["precision"] = "device: fastest";
  }
  connect_devices(processes, config, run.decisions.device.device);
  config::Config decided = config;
  decided.precision = run.decisions.precision.precision;
  run.session =
      train::make_session(decided, std::move(data), run.decisions.device.device, processes.world);
  if (run.session->device != run.decisions.device.device) {
    run.decisions.device = {
        run.session->device,
        fmt::format("instead of {}: out of memory", run.decisions.device.device.str()), ""};
  }
  if (request.resume) {
    train::restore(*run.session, request.resume->checkpoint);
  } else if (!config.model.init_from.empty()) {
    train::load_initial_weights(*run.session, config.model.init_from, config.model.init_skip);
  }
  require_agreement(request, processes, *run.session);
  if (request.resume) {
    for (std::string& change : check_products(request, *run.session)) {
      run.changes.push_back(std::move(change));
    }
  }
  train::share_state(*run.session);
  if (processes.world->is_first()) check_free_space(*run.session, request);
  decide_threads(
      *run.session,
      request.resume ? std::optional(request.resume->checkpoint.num_threads) : std::nullopt,
      processes.sharing_cpus, run.decisions);
  if (request.resume) {
    std::erase(config.pending, "training.epochs");  // decided in the resumed run, or configured now
  } else {
    decide_epochs(*run.session, config, run.decisions);
  }
  return run;
}

// Keeps the files of steps after the resumed checkpoint in a separate folder.
void keep_superseded(const PreparedRun& prepared, const checkpoint::ResumePoint& resume,
                     const run::RunDir& run) {
  const auto course =
      prepared.changes.empty() ? checkpoint::Course::kSame : checkpoint::Course::kOther;
  const auto kept = checkpoint::keep_superseded(run, resume.checkpoint, resume.file, course);
  if (!kept) return;
  const checkpoint::Position& position = resume.checkpoint.state.position;
  log::event("superseded",
             fmt::format("what came after epoch {}, step {} is kept in {} ({})", position.epoch,
                         with_thousands(position.step), kept->string(),
                         description(run::read_superseded(*kept))),
             {{"folder", kept->string()}, {"epoch", position.epoch}, {"step", position.step}});
}

// Whether the resume only repeats the interrupted end of a finished run, so that no steps are
// discarded.
bool ends_again(const PreparedRun& prepared, const TrainRequest& request,
                const checkpoint::Store& store) {
  std::error_code ignored;
  return train::finished(*prepared.session) && prepared.changes.empty() &&
         std::filesystem::equivalent(request.resume->file, store.last(), ignored);
}

// Restores the run folder to its state at the resumed checkpoint.
void rewind(const PreparedRun& prepared, const TrainRequest& request, const RunFolder& folder,
            const checkpoint::Store& store) {
  if (!request.resume) return;
  if (folder.is_resumed && !ends_again(prepared, request, store)) {
    keep_superseded(prepared, *request.resume, folder.run);
  }
  if (store.rewind(request.resume->checkpoint, request.resume->file)) return;
  // A better epoch replaced the best one of the checkpoint. Without changes the run will reach it
  // again.
  if (prepared.changes.empty() && std::filesystem::exists(store.best())) return;
  log::warning(
      fmt::format("the checkpoint of the best epoch so far ({}) no longer exists; the search for "
                  "the best epoch starts over",
                  prepared.session->state.best->epoch));
  train::reset_best(*prepared.session);
}

// Opens the log of this process and, if configured, the same log as JSON.
void open_logs(const std::filesystem::path& path, const config::LoggingConfig& logging) {
  const log::Level level = config::log_level(logging.level);
  log::open_file(path, level);
  if (logging.format == config::LogFormat::kText) return;
  log::open_json_file(std::filesystem::path(path).replace_extension(".jsonl"), level);
}

// Returns the output for a process that writes no files except its own log, and for a run that was
// complete already.
train::Output output_of_none(const PreparedRun& prepared, const TrainRequest& request,
                             const run::RunDir& run) {
  return {.metrics = run::MetricsLog(),
          .checkpoints =
              checkpoint::Store(run.checkpoints(), request.config.config.checkpoint.keep_last),
          .config = "",
          .num_threads = prepared.decisions.threads.num_threads,
          .progress = {}};
}

// Each start writes an event file of its own. After a resume, readers ignore events of later steps
// in older files.
tensorboard::EventFile open_events(const TrainRequest& request, const run::RunDir& run) {
  const config::Config& config = request.config.config;
  if (!config.logging.tensorboard) return {};
  const int64_t first_step =
      request.resume ? request.resume->checkpoint.state.position.step + 1 : 0;
  tensorboard::EventFile events(run.tensorboard(), first_step);
  tensorboard::add_configuration(config, events);
  return events;
}

// Writes a note about the run. A failure is no error, because the run itself does not need the
// note.
void note(FunctionRef<void()> write) noexcept {
  try {
    write();
  } catch (const std::exception& e) {
    log::debug(e.what());
  }
}

void note_end(const run::RunDir& run, run::End end, const std::string& reason) {
  note([&] { run::write_end(run.root, end, reason.substr(0, reason.find('\n'))); });
}

void note_threads(const run::RunDir& run, int64_t step, int64_t num_threads) {
  note([&] { run::write_threads(run.root, step, num_threads); });
}

// Writes the first files of the run and opens those that training appends to.
train::Output open_output(const PreparedRun& prepared, const TrainRequest& request,
                          const Processes& processes, const RunFolder& folder,
                          const std::string& resolved) {
  const run::RunDir& run = folder.run;
  const config::Config& config = request.config.config;
  remove_temporary_files(run.root);
  remove_temporary_files(run.checkpoints());
  write_system_json(run, request, prepared.decisions, processes, *prepared.session);
  open_logs(run.log(), config.logging);
  const checkpoint::Store store(run.checkpoints(), config.checkpoint.keep_last);
  rewind(prepared, request, folder, store);
  // Members are initialized in this order, so metrics.jsonl is truncated before others read it.
  return {.metrics = run::MetricsLog(run.metrics(), folder.metrics_bytes),
          .checkpoints = store,
          .config = resolved,
          .num_threads = prepared.decisions.threads.num_threads,
          .progress = request.progress,
          .max_threads = prepared.decisions.max_threads,
          .first_thread_trial = prepared.decisions.first_thread_trial,
          .threads_changed = [run](int64_t step,
                                   int64_t num_threads) { note_threads(run, step, num_threads); },
          .events = open_events(request, run)};
}

void log_start(const PreparedRun& prepared, const TrainRequest& request, const Processes& processes,
               const run::RunDir& run) {
  log_header(*prepared.session, request, prepared.decisions, processes, run);
  warn(prepared.decisions);
  log_warnings(*prepared.session);
  if (!prepared.changes.empty()) {
    log::warning(fmt::format("resuming with changes:\n  {}", fmt::join(prepared.changes, "\n  ")));
  }
  if (request.resume) log_other_schedule(*prepared.session, *request.resume);
}

TrainReport make_report(train::Session& session, train::Output& output, const run::RunDir& run,
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

void record_early_stop(const train::Session& session) {
  const int64_t epoch = session.state.position.epoch;
  Json fields = {{"step", session.state.position.step}, {"epoch", epoch}};
  if (session.state.best) fields["best_epoch"] = session.state.best->epoch;
  log::record("early_stop", fmt::format("stopped early after epoch {}", epoch), fields);
}

// The first process opens the folder of the run and tells the others.
RunFolder open_folder(const PreparedRun& prepared, const TrainRequest& request,
                      const dist::World& world, const std::string& resolved) {
  RunFolder folder;
  const auto trains = train::finished(*prepared.session) ? Trains::kNo : Trains::kYes;
  if (world.is_first()) folder = open_run_folder(request, resolved, trains);
  folder.run.root = world.broadcast_text(folder.run.root.string());
  folder.is_complete = !world.broadcast_text(folder.is_complete ? "complete" : "").empty();
  return folder;
}

train::Output open_output_of(const RunFolder& folder, const PreparedRun& prepared,
                             const TrainRequest& request, const Processes& processes,
                             const std::string& resolved) {
  const bool is_first = processes.world->is_first();
  if (is_first && !folder.is_complete) {
    return open_output(prepared, request, processes, folder, resolved);
  }
  const std::filesystem::path& root = folder.run.root;
  if (!folder.is_complete && std::filesystem::is_directory(root)) {
    open_logs(root / fmt::format("rank_{}.log", processes.world->rank()),
              request.config.config.logging);
  }
  return output_of_none(prepared, request, folder.run);
}

// Trains the run, with checkpoints on disk from the start. Returns the signal that asked to stop,
// or 0.
int train_in(const RunFolder& folder, const PreparedRun& prepared, train::Output& output) {
  train::Session& session = *prepared.session;
  const bool is_first = session.world->is_first();
  if (!train::finished(session) && is_first) {
    std::error_code ignored;
    // A summary of an earlier start with fewer epochs is out of date.
    std::filesystem::remove(folder.run.summary(), ignored);
  }
  train::save_initial(session, output);
  // Only after save_initial(), when the run can be resumed.
  if (is_first) run::point_latest_to(folder.run);
  watch_signals();
  const int stop_signal = train::fit(session, output);
  // After a stop the signals stay watched: the process ends soon, and another signal, such as srun
  // sends, must not keep it from reporting that.
  if (stop_signal == 0) unwatch_signals();
  if (train::stopped_early(session)) record_early_stop(session);
  return stop_signal;
}

TrainReport report_in(const RunFolder& folder, const PreparedRun& prepared,
                      const TrainRequest& request, const Processes& processes,
                      const std::string& resolved) {
  train::Session& session = *prepared.session;
  train::Output output = open_output_of(folder, prepared, request, processes, resolved);
  log_start(prepared, request, processes, folder.run);
  if (train::finished(session)) log::info("this run is already complete");
  const int stop_signal = folder.is_complete ? 0 : train_in(folder, prepared, output);
  TrainReport report = make_report(session, output, folder.run, stop_signal);
  report.is_first = processes.world->is_first();
  report.has_written = !folder.is_complete;
  report.workload = describe_workload(session, prepared.decisions, output.samples_done);
  return report;
}

// Writes the last files of a run: summary, report and how it ended.
void close_run(const TrainReport& report, const PreparedRun& prepared, const run::RunDir& run) {
  if (!report.is_first || !report.has_written) return;
  if (report.stop_signal != 0) {
    note_end(run, run::End::kStopped, signal_name(report.stop_signal));
    return;
  }
  const config::Config& config = prepared.session->config;
  log_details(report);
  write_summary(report, config, run);
  if (config.logging.report) {
    report::write_own_report(run.root, {.num_threads = prepared.decisions.threads.num_threads});
  }
  note_end(run, run::End::kComplete, "");
}

TrainReport run_together(TrainRequest& request, const Processes& processes) {
  const PreparedRun prepared = prepare(request, processes);
  const std::string resolved = config::dump(request.config);
  const RunFolder folder = open_folder(prepared, request, *processes.world, resolved);
  TrainReport report;
  try {
    report = report_in(folder, prepared, request, processes, resolved);
  } catch (const std::exception& e) {
    if (processes.world->is_first() && !folder.is_complete) {
      note_end(folder.run, run::End::kFailed, e.what());
    }
    throw;
  }
  report.time_seconds = prepared.since_data.seconds();
  close_run(report, prepared, folder.run);
  return report;
}

}  // namespace

TrainReport run_training(TrainRequest request) {
  const Processes processes = join_processes(request);
  if (!processes.world->is_first()) {
    request.progress = nullptr;
    log::set_console_level(log::Level::kWarning);
  }
  try {
    return run_together(request, processes);
  } catch (const Error& e) {
    // After a lost process there is nothing to announce: each process finds out itself which one is
    // lost.
    if (e.kind() != ErrorKind::kLostProcess) processes.world->announce_failure(e.what());
    throw;
  } catch (const std::bad_alloc&) {
    processes.world->announce_failure("out of memory");
    throw;
  } catch (const std::exception& e) {
    processes.world->announce_failure(e.what());
    throw;
  }
}

}  // namespace trainer::engine
