// SPDX-License-Identifier: Apache-2.0
#include "train/engine/run_records.h"

#include <optional>
#include <sstream>
#include <string>

#include <fmt/format.h>

#include "trainer/base/io/atomic_file.h"
#include "trainer/base/io/log.h"
#include "trainer/base/text/json_reader.h"
#include "trainer/metrics/report_document.h"
#include "trainer/run/folder/system_info.h"
#include "trainer/torch/device/description.h"

#include "train/engine/run_header.h"

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

// The result lines go to the file only: the command itself prints them on the console.
void log_report(const char* split, const std::optional<metrics::Report>& report) {
  if (!report) return;
  std::istringstream result(metrics::scores_document(split, *report).text());
  for (std::string line; std::getline(result, line);) log::note(line);
  std::istringstream lines(metrics::details_document(*report).text());
  for (std::string line; std::getline(lines, line);)
    log::text_line(line.empty() ? line : "  " + line);
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

}  // namespace trainer::engine
