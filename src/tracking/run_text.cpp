// SPDX-License-Identifier: Apache-2.0
#include "trainer/tracking/run_text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <sstream>
#include <vector>

#include <fmt/format.h>

#include "trainer/config/config.h"  // IWYU pragma: keep
#include "trainer/config/fields.h"
#include "trainer/core/labeled_lines.h"
#include "trainer/core/text_table.h"
#include "trainer/run/history.h"
#include "trainer/run/superseded.h"
#include "trainer/tracking/query.h"

#include "tracking/run_json.h"

namespace trainer::tracking {
namespace {

constexpr std::size_t kMaxValueWidth = 60;
constexpr std::array kSplits = {"train", "val", "test"};

void add_table(const std::vector<std::vector<std::string>>& rows, const char* label,
               LabeledLines& lines) {
  std::istringstream text(text_table(rows));
  for (std::string line; std::getline(text, line); label = "") lines.add(label, line);
}

void add_starts(const RunEntry& entry, LabeledLines& lines) {
  for (const run::Start& start : run::read_starts(entry.folder)) {
    std::string text = fmt::format("{} on {}", start.time, start.device);
    if (start.end != run::End::kNone) text += fmt::format(", {}", to_text(start.end));
    if (!start.reason.empty()) text += fmt::format(": {}", start.reason);
    lines.add("started", text);
  }
}

void add_superseded(const RunEntry& entry, LabeledLines& lines) {
  const char* label = "superseded";
  for (const run::Superseded& one : run::list_superseded({entry.folder})) {
    lines.add(label,
              fmt::format("superseded/{}, {}", one.folder.filename().string(), to_text(one)));
    label = "";
  }
}

void add_settings(const RunEntry& entry, LabeledLines& lines) {
  const config::Config defaults;
  std::size_t width = 0;
  for (const auto& [key, value] : entry.settings) width = std::max(width, key.size());
  const char* label = "settings";
  for (const auto& [key, value] : entry.settings) {
    lines.add(label,
              fmt::format("{:<{}}  {}  (default {})", key, width, shortened(value, kMaxValueWidth),
                          shortened(config::value_text(key, defaults), kMaxValueWidth)));
    label = "";
  }
}

void add_metrics(const RunEntry& entry, LabeledLines& lines) {
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> rows = {{""}};
  for (const metrics::Score& score : entry.metrics) {
    std::string name = score_name(score.name);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  for (const char* split : kSplits) {
    const auto is_of_split = [&](const metrics::Score& score) {
      return score.name.starts_with(fmt::format("{}.", split));
    };
    if (std::none_of(entry.metrics.begin(), entry.metrics.end(), is_of_split)) continue;
    rows.front().emplace_back(split);
  }
  for (const std::string& name : names) {
    std::vector<std::string>& row = rows.emplace_back(std::vector{metrics::shown_name(name)});
    for (std::size_t i = 1; i < rows.front().size(); ++i) {
      row.push_back(shown_value(entry, rows.front()[i] + "." + name));
    }
  }
  if (rows.size() > 1) add_table(rows, "metrics", lines);
}

Json scores_json(const run::EpochSummary& summary) {
  Json json = Json::object();
  for (const metrics::Score& score : summary.scores) json[score.name] = score.value;
  return json;
}

}  // namespace

std::string run_text(const RunEntry& entry) {
  LabeledLines lines;
  lines.add("run folder", entry.folder.string());
  lines.add("state", fmt::format("{}{}, {} {}, {}", to_text(entry.state),
                                 entry.reason.empty() ? "" : " (" + entry.reason + ")",
                                 shown_value(entry, "epochs"),
                                 entry.kind == Kind::kRun ? "epochs" : "complete",
                                 shown_value(entry, "time")));
  add_starts(entry, lines);
  add_superseded(entry, lines);
  if (!entry.note.empty()) lines.add("note", entry.note);
  if (!entry.problem.empty()) lines.add("problem", entry.problem);
  if (entry.best) lines.add("best", shown_value(entry, "best"));
  add_settings(entry, lines);
  add_metrics(entry, lines);
  return lines.text();
}

std::string run_json(const RunEntry& entry) {
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
    Json added = {
        {"epoch", epoch.epoch}, {"step", epoch.step}, {"train", scores_json(epoch.train)}};
    if (epoch.validation) added["val"] = scores_json(*epoch.validation);
    added["time_seconds"] = epoch.time_seconds;
    json["epochs_done"].push_back(std::move(added));
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace trainer::tracking
