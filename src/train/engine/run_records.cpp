// SPDX-License-Identifier: Apache-2.0
#include "train/engine/run_records.h"

#include <optional>
#include <sstream>
#include <string>

#include <fmt/format.h>

#include "trainer/base/io/atomic_file.h"
#include "trainer/base/io/log.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/json.h"
#include "trainer/base/text/text_table.h"
#include "trainer/base/version.h"
#include "trainer/config/fields.h"
#include "trainer/config/load.h"
#include "trainer/metrics/report.h"
#include "trainer/nn/cpu/kernels.h"
#include "trainer/nn/schedule/learning_rate.h"
#include "trainer/run/folder/system_info.h"
#include "trainer/table/dataset.h"
#include "trainer/torch/device/device.h"

namespace trainer::engine {
namespace {

Json run_entry(const TrainRequest& request, const Decisions& decisions, const Processes& processes,
               const train::Session& session) {
  Json entry = {{"time", run::timestamp()},
                {"command_line", request.command_line},
                {"device", decisions.device.device.str()},
                {"device_reason", decisions.device.reason},
                {"precision", config::to_text(session.config.precision)},
                {"threads", decisions.threads.num_threads},
                {"threads_reason", decisions.threads.reason},
                {"step", step_text(session)}};
  for (const train::DeviceTrial& trial : decisions.device_trials) {
    Json& json = entry["device_trials"].emplace_back(
        Json{{"device", trial.device.str()}, {"precision", config::to_text(trial.precision)}});
    json["step_seconds"] = trial.step_seconds;
    json["loss_difference"] = trial.loss_difference;
    if (!trial.problem.empty()) json["problem"] = trial.problem;
  }
  for (const train::ThreadTrial& trial : decisions.thread_trials) {
    entry["thread_trials"].push_back(
        {{"threads", trial.num_threads}, {"step_seconds", trial.step_seconds}});
  }
  if (!processes.world->is_alone()) {
    entry["distributed"] = to_json(processes, session.config, decisions.exchange);
  }
  if (request.resume) entry["resumed_from"] = request.resume->file.string();
  return entry;
}

// To the file only: the command itself prints the results on the console.
void log_report(const char* split, const std::optional<metrics::Report>& report) {
  if (!report) return;
  Document document = metrics::scores_document(split, *report);
  document.append(metrics::details_document(*report));
  std::istringstream lines(document.text());
  for (std::string line; std::getline(lines, line);) log::note(line);
}

}  // namespace

void write_system_json(const run::RunDir& run, const TrainRequest& request,
                       const Decisions& decisions, const Processes& processes,
                       const train::Session& session) {
  Json system = run::system_info();
  system["accelerators"] = device::describe_accelerators(device::available_devices());
  system["data_files"] = Json::array();
  for (const data::Fingerprint& file : session.data.fingerprints) {
    system["data_files"].push_back({{"path", file.path},
                                    {"num_bytes", file.num_bytes},
                                    {"crc32", fmt::format("{:08x}", file.crc32)}});
  }
  system["starts"] = Json::array();
  for (const JsonReader& start : JsonReader::of_file(run.system())["starts"].elements()) {
    system["starts"].push_back(start.json());
  }
  system["starts"].push_back(run_entry(request, decisions, processes, session));
  write_file_atomically(run.system(), system.dump(2) + "\n");
}

void write_summary(const TrainReport& report, const config::Config& config,
                   const run::RunDir& run) {
  Json summary = {{"run", run.root.filename().string()},
                  {"time", run::timestamp()},
                  {"epochs", report.epochs},
                  {"steps", report.steps},
                  {"stopped_early", report.stopped_early},
                  {"time_seconds", report.time_seconds}};
  if (report.best) {
    summary["best"] = {{"epoch", report.best->epoch},
                       {"split", report.validation ? "validation" : "train"},
                       {"metric", config::to_text(config.training.best_metric)},
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

void log_details(const TrainReport& report) {
  if (report.test) {
    log_report("test", report.test);
  } else {
    log_report("validation", report.validation);
  }
}

namespace {

std::string model_text(const train::Session& session) {
  const model::FlatParameters& flat = session.model.parameters();
  std::string text = fmt::format("{}; {} parameters", network::summary(session.model.spec()),
                                 with_thousands(flat.num_parameters()));
  if (flat.num_frozen() > 0) text += fmt::format(", {} frozen", with_thousands(flat.num_frozen()));
  return text;
}

std::string data_text(const data::Datasets& data) {
  const data::Schema& schema = data.schema;
  std::string kind = "numeric";
  if (schema.task == config::Task::kClassification) {
    kind = with_thousands(std::ssize(schema.labels)) + " classes";
    if (schema.labels.size() == 2)
      kind += fmt::format(", positive {}", in_quotes(schema.labels[1]));
  }
  const std::string target = fmt::format("{} ({}{}{})", kind, config::to_text(schema.task),
                                         data.task_reason.empty() ? "" : " ", data.task_reason);
  return fmt::format("{}, target \"{}\": {}", counted(schema.num_features(), "feature"),
                     joined(schema.target_names, "\" and \""), target);
}

std::string rows_text(const data::Datasets& data) {
  std::string text =
      fmt::format("{} train, {} validation, {} test", with_thousands(data.train.size()),
                  with_thousands(data.validation.size()), with_thousands(data.test.size()));
  if (data.num_without_target > 0) {
    text += fmt::format("; {} rows dropped (no target)", with_thousands(data.num_without_target));
  }
  if (data.num_weightless > 0) {
    text += fmt::format("; {} of weight 0 left out", counted(data.num_weightless, "row"));
  }
  return text;
}

// Lists the data files, in the log file only.
void log_files(const data::Datasets& data) {
  for (const data::Fingerprint& file : data.fingerprints) {
    log::note(labeled_line("data file", fmt::format("{}: {}", file.path, content_text(file))));
  }
}

// Notes on single columns go to the log file only if there are many.
void log_columns(const data::Datasets& data) {
  constexpr int64_t kMaxColumns = 8;
  const bool is_long = data.num_column_notes > kMaxColumns;
  const std::vector<std::string>& notes = data.notes;
  for (std::size_t i = 0; i < notes.size(); ++i) {
    const char* label = i == 0 ? "columns" : "";
    const auto index = static_cast<int64_t>(i);
    const bool is_of_column = index > 0 && index <= data.num_column_notes;
    if (is_long && is_of_column) {
      log::detail(labeled_line(label, notes[i]));
    } else {
      log::overview(label, notes[i]);
    }
  }
  if (is_long) {
    log::overview("", fmt::format("{} about individual columns: see train.log or use -v",
                                  counted(data.num_column_notes, "line")));
  }
}

// Records the facts of the overview as values in the JSON log.
void record_start(const train::Session& session, const TrainRequest& request,
                  const Decisions& decisions, const run::RunDir& run) {
  const config::TrainingConfig& training = session.config.training;
  Json fields = {{"run_folder", run.root.string()},
                 {"version", build_info().version},
                 {"git_commit", build_info().git_commit},
                 {"device", decisions.device.device.str()},
                 {"precision", config::to_text(session.config.precision)},
                 {"threads", decisions.threads.num_threads},
                 {"train_rows", session.data.train.size()},
                 {"validation_rows", session.data.validation.size()},
                 {"test_rows", session.data.test.size()},
                 {"features", session.data.schema.num_features()},
                 {"task", config::to_text(session.data.schema.task)},
                 {"parameters", session.model.parameters().num_parameters()},
                 {"epochs", training.epochs},
                 {"steps_per_epoch", schedule::steps_per_epoch(training, session.train.size())},
                 {"samples_per_step", schedule::samples_per_step(training, session.train.size())},
                 {"seed", session.config.seed},
                 {"data_files", Json::array()}};
  for (const data::Fingerprint& file : session.data.fingerprints) {
    fields["data_files"].push_back(file.path);
  }
  if (request.resume) {
    fields["resumed_from"] = request.resume->file.string();
    fields["epoch"] = session.state.position.epoch;
    fields["step"] = session.state.position.step;
  }
  log::record("start", fmt::format("training in {}", run.root.string()), fields);
}

const char* bf16_text(const cpu::Kernels& kernels) {
  if (!kernels.has_bf16) return "";
  return kernels.bf16_products == Bf16Products::kAmx ? " with AMX" : " with BF16";
}

}  // namespace

std::string step_text(const train::Session& session) {
  if (train::uses_kernels(session)) {
    const cpu::Kernels& kernels = cpu::kernels();
    const bool is_bf16 = session.config.precision == config::Precision::kBf16;
    return fmt::format("fused ({}{})", cpu::instruction_set_name(kernels.instruction_set),
                       is_bf16 ? bf16_text(kernels) : "");
  }
  return session.config.model.activation_checkpointing ? "autograd (activation checkpointing)"
                                                       : "autograd";
}

void log_header(const train::Session& session, const TrainRequest& request,
                const Decisions& decisions, const Processes& processes, const run::RunDir& run) {
  const auto line = [](const char* name, const std::string& value) { log::overview(name, value); };
  const config::Config& config = session.config;
  if (request.resume) log::text_line("---------- resumed ----------");
  const run::BlasInfo blas = run::blas_info();
  line("trainer",
       fmt::format("{} ({}), LibTorch {}, BLAS {}", build_info().version,
                   build_info().git_commit.substr(0, 9), build_info().libtorch, blas.name));
  if (!blas.mistaken.empty()) {
    line("", fmt::format("OpenBLAS takes this CPU for {}; OPENBLAS_CORETYPE={} was set for it",
                         blas.mistaken, blas.core));
  }
  if (!processes.world->is_alone()) line("processes", processes_text(processes, config));
  line("device", fmt::format("{} ({})", decisions.device.device.str(), decisions.device.reason));
  line("precision", config::to_text(config.precision));
  line("threads", fmt::format("{} ({})", decisions.threads.num_threads, decisions.threads.reason));
  line("step", step_text(session));
  if (decisions.exchange) line("exchange", exchange_text(processes, *decisions.exchange));
  line("data", data_text(session.data));
  log_files(session.data);
  log_columns(session.data);
  line("rows", rows_text(session.data));
  if (!session.data.cache.empty()) line("cache", session.data.cache);
  line("model", model_text(session));
  line("training",
       fmt::format(
           "{}{} of {}, effective batch {}, {}, learning rate {} ({}){}{}",
           counted(config.training.epochs, "epoch"),
           decisions.epochs_reason.empty() ? "" : " (" + decisions.epochs_reason + ")",
           counted(schedule::steps_per_epoch(config.training, session.train.size()), "step"),
           with_thousands(schedule::samples_per_step(config.training, session.train.size())),
           config::to_text(config.training.optimizer.name), shortest(config.training.learning_rate),
           config::to_text(config.training.schedule.name),
           config.training.ema_decay > 0
               ? fmt::format(", averaged weights ({})", shortest(config.training.ema_decay))
               : "",
           config.training.gradient_clip_norm == 0
               ? ", gradients not clipped (training.gradient_clip_norm: 0)"
               : ""));
  log::note(labeled_line("seed", fmt::to_string(config.seed)));
  if (!config.model.init_from.empty() && !request.resume) {
    line("weights", "from " + config.model.init_from);
  }
  log::note(labeled_line("run folder", run.root.string()));
  if (request.resume) {
    line("resumed",
         fmt::format("{} at epoch {}, step {}", request.resume->file.string(),
                     session.state.position.epoch, with_thousands(session.state.position.step)));
  }
  record_start(session, request, decisions, run);
}

void log_warnings(const train::Session& session) {
  for (const std::string& warning : session.data.warnings) log::warning_once(warning);
  if (run::blas_info().is_slow && session.device.is_cpu() && !train::uses_kernels(session)) {
    log::warning(
        fmt::format("LibTorch uses a slow BLAS ({}); install OpenBLAS (Debian: "
                    "libopenblas0-openmp) to train many times faster",
                    run::blas_info().name));
  }
}

// Most schedules depend on the last epoch. With another number of epochs the learning rate jumps.
void log_other_schedule(const train::Session& session, const checkpoint::ResumePoint& resume) {
  const int64_t step = session.state.position.step;
  const config::Document document{resume.file.string(), resume.checkpoint.config, ""};
  const config::TrainingConfig before = config::load({document}, {}).config.training;
  const config::TrainingConfig& now = session.config.training;
  if (before.epochs == now.epochs || step == 0 || train::finished(session)) return;
  const double was =
      schedule::learning_rate(schedule::schedule_options(before, session.train.size()), step - 1);
  if (was == schedule::learning_rate(session.schedule, step - 1)) return;
  log::info(
      fmt::format("training.epochs: {} before, {} now: the schedule ({}) spans all of them, "
                  "so the learning rate goes on with {:.4g}, after {:.4g}",
                  before.epochs, now.epochs, config::to_text(now.schedule.name),
                  train::next_learning_rate(session), was));
}

}  // namespace trainer::engine
