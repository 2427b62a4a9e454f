// SPDX-License-Identifier: Apache-2.0
#include "trainer/run/tracking/run_document.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/text/document.h"
#include "trainer/base/text/text_table.h"
#include "trainer/config/config.h"  // IWYU pragma: keep
#include "trainer/config/fields.h"
#include "trainer/run/folder/history.h"
#include "trainer/run/folder/superseded.h"
#include "trainer/run/tracking/query.h"

#include "run/tracking/run_document.h"

namespace trainer::tracking {
namespace {

constexpr std::size_t kMaxValueWidth = 60;
constexpr std::array kSplits = {"train", "val", "test"};

void add_starts(const RunEntry& entry, Document& document) {
  for (const run::Start& start : run::read_starts(entry.folder)) {
    std::string text = fmt::format("{} on {}", start.time, start.device);
    if (start.end != run::End::kNone) text += fmt::format(", {}", to_text(start.end));
    if (!start.reason.empty()) text += fmt::format(": {}", start.reason);
    document.line("started", text);
  }
}

void add_superseded(const RunEntry& entry, Document& document) {
  const char* label = "superseded";
  for (const run::Superseded& one : run::list_superseded({entry.folder})) {
    document.line(
        label, fmt::format("superseded/{}, {}", one.folder.filename().string(), description(one)));
    label = "";
  }
}

void add_settings(const RunEntry& entry, Document& document) {
  const config::Config defaults;
  std::size_t width = 0;
  for (const auto& [key, value] : entry.settings) width = std::max(width, key.size());
  const char* label = "settings";
  for (const auto& [key, value] : entry.settings) {
    document.line(
        label, fmt::format("{:<{}}  {}  (default {})", key, width, shortened(value, kMaxValueWidth),
                           shortened(config::value_text(key, defaults), kMaxValueWidth)));
    label = "";
  }
}

void add_metrics(const RunEntry& entry, Document& document) {
  std::vector<std::string> names;
  for (const metrics::Score& score : entry.metrics) {
    std::string name = score_name(score.name);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  if (names.empty()) return;
  std::vector<std::string> splits;
  std::vector<TableColumn> columns = {{"", "metric", Align::kLeft}};
  for (const char* split : kSplits) {
    const auto is_of_split = [&](const metrics::Score& score) {
      return score.name.starts_with(fmt::format("{}.", split));
    };
    if (std::none_of(entry.metrics.begin(), entry.metrics.end(), is_of_split)) continue;
    splits.emplace_back(split);
    columns.push_back({"", split});
  }
  Table table(std::move(columns));
  for (const std::string& name : names) {
    std::vector<Cell> row = {metrics::shown_name(name)};
    for (const std::string& split : splits) {
      row.emplace_back(shown_value(entry, fmt::format("{}.{}", split, name)));
    }
    table.add(std::move(row));
  }
  document.show(std::move(table));
}

// Adds the entries that only the JSON has, such as those of all epochs.
void add_details(const RunEntry& entry, Document& document) {
  const run::History history = run::read_history(entry.folder);
  Json json = to_json(entry);
  json["starts"] = Json::array();
  for (const run::Start& start : history.starts) {
    Json added = {{"time", start.time}, {"device", start.device}, {"end", to_text(start.end)}};
    if (!start.reason.empty()) added["reason"] = start.reason;
    json["starts"].push_back(std::move(added));
  }
  json["superseded"] = Json::array();
  for (const run::Superseded& one : run::list_superseded({entry.folder})) {
    json["superseded"].push_back({{"folder", one.folder.string()},
                                  {"records", one.num_records},
                                  {"first_epoch", one.first_epoch},
                                  {"last_epoch", one.last_epoch},
                                  {"checkpoints", one.num_checkpoints},
                                  {"has_results", one.has_results}});
  }
  json["epochs_done"] = Json::array();
  for (const run::EpochRecord& epoch : history.epochs) {
    Json added = {{"epoch", epoch.epoch},
                  {"step", epoch.step},
                  {"train", metrics::scores_json(epoch.train.scores)}};
    if (epoch.validation) added["val"] = metrics::scores_json(epoch.validation->scores);
    added["time_seconds"] = epoch.time_seconds;
    json["epochs_done"].push_back(std::move(added));
  }
  for (const auto& [key, value] : json.items()) document.data(key, value);
}

}  // namespace

Document run_document(const RunEntry& entry) {
  Document document;
  document.line("run folder", entry.folder.string());
  document.line("state", fmt::format("{}{}, {} {}, {}", to_text(entry.state),
                                     entry.reason.empty() ? "" : " (" + entry.reason + ")",
                                     shown_value(entry, "epochs"),
                                     entry.kind == Kind::kRun ? "epochs" : "complete",
                                     shown_value(entry, "time")));
  add_starts(entry, document);
  add_superseded(entry, document);
  if (!entry.note.empty()) document.line("note", entry.note);
  if (!entry.problem.empty()) document.line("problem", entry.problem);
  if (entry.best) document.line("best", shown_value(entry, "best"));
  add_settings(entry, document);
  add_metrics(entry, document);
  add_details(entry, document);
  return document;
}

Json to_json(const RunEntry& entry) {
  return {{"name", entry.name},
          {"folder", entry.folder.string()},
          {"kind", to_text(entry.kind)},
          {"state", to_text(entry.state)},
          {"reason", entry.reason},
          {"started", entry.started},
          {"time_seconds", entry.seconds},
          {"epochs", entry.epochs},
          {"planned_epochs", entry.planned_epochs},
          {"tag", entry.tag},
          {"note", entry.note},
          {"best_metric", entry.best_metric},
          {"metrics", metrics::scores_json(entry.metrics)},
          {"settings", entry.settings},
          {"problem", entry.problem}};
}

RunEntry from_json(const JsonReader& json, const std::filesystem::path& folder) {
  RunEntry entry;
  entry.folder = folder;
  entry.name = folder.filename().string();
  entry.kind = from_text<Kind>(json.text("kind")).value_or(Kind::kRun);
  entry.state = from_text<State>(json.text("state")).value_or(State::kKilled);
  entry.reason = json.text("reason");
  entry.started = json.text("started");
  entry.seconds = json.number("time_seconds").value_or(0);
  entry.epochs = json.integer("epochs");
  entry.planned_epochs = json.integer("planned_epochs");
  entry.tag = json.text("tag");
  entry.note = json.text("note");
  entry.best_metric = json.text("best_metric");
  for (const auto& [name, value] : json["metrics"].entries()) {
    entry.metrics.push_back({name, value.number()});
  }
  for (const auto& [key, value] : json["settings"].entries()) entry.settings[key] = value.text();
  entry.problem = json.text("problem");
  entry.best = metrics::find_score(entry.metrics, entry.best_metric);
  return entry;
}

}  // namespace trainer::tracking
