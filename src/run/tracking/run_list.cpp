// SPDX-License-Identifier: Apache-2.0
#include "trainer/run/tracking/run_list.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "trainer/base/text/document.h"
#include "trainer/base/text/format.h"
#include "trainer/run/tracking/query.h"

#include "run/tracking/run_document.h"

namespace trainer::tracking {
namespace {

constexpr std::size_t kMaxWidth = 40;  // of a column, in characters

Table make_table(std::span<const RunEntry> entries, const std::vector<std::string>& names) {
  constexpr std::array<std::string_view, 6> kTexts = {"name",    "kind", "state",
                                                      "started", "tag",  "note"};
  std::vector<TableColumn> columns;
  for (const std::string& name : names) {
    const bool is_text = std::find(kTexts.begin(), kTexts.end(), name) != kTexts.end();
    columns.push_back({.key = "",
                       .title = name,
                       .align = is_text ? Align::kLeft : Align::kRight,
                       .max_width = kMaxWidth});
  }
  Table table(std::move(columns));
  for (const RunEntry& entry : entries) {
    std::vector<Cell> row;
    row.reserve(names.size());
    for (const std::string& name : names) {
      std::string text = shown_value(entry, name);
      std::replace(text.begin(), text.end(), '\n', ' ');
      row.emplace_back(std::move(text));
    }
    table.add(std::move(row));
  }
  return table;
}

std::string csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (const std::string& cell : cells) line += (line.empty() ? "" : ",") + csv_cell(cell);
  return line + "\n";
}

/// Returns all fields of the entries as CSV, with a column for each metric and each key that any of
/// them has.
std::string to_csv(std::span<const RunEntry> entries) {
  std::set<std::string> metrics;
  std::set<std::string> keys;
  for (const RunEntry& entry : entries) {
    for (const metrics::Score& score : entry.metrics) metrics.insert(score.name);
    for (const auto& [key, value] : entry.settings) keys.insert(key);
  }
  std::vector<std::string> names = {"name",   "kind",           "state", "started", "time_seconds",
                                    "epochs", "planned_epochs", "tag",   "note",    "best_metric"};
  names.insert(names.end(), metrics.begin(), metrics.end());
  names.insert(names.end(), keys.begin(), keys.end());
  std::string text = csv_line(names);
  for (const RunEntry& entry : entries) {
    std::vector<std::string> cells = {entry.name,
                                      to_text(entry.kind),
                                      to_text(entry.state),
                                      entry.started,
                                      shortest(entry.seconds),
                                      std::to_string(entry.epochs),
                                      std::to_string(entry.planned_epochs),
                                      entry.tag,
                                      entry.note,
                                      entry.best_metric};
    for (const std::string& name : metrics) {
      const auto value = metrics::find_score(entry.metrics, name);
      cells.push_back(value ? shortest(*value) : "");
    }
    for (const std::string& key : keys) {
      cells.push_back(entry.problem.empty() ? setting(entry, key) : "");
    }
    text += csv_line(cells);
  }
  return text;
}

std::string list_json(std::span<const RunEntry> entries) {
  Json array = Json::array();
  for (const RunEntry& entry : entries) array.push_back(to_json(entry));
  return array.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::vector<std::string> usual_columns(std::span<const RunEntry> entries) {
  std::vector<std::string> columns = {"name", "state", "epochs", "best", "time"};
  const auto any = [&](const auto& has) {
    return std::any_of(entries.begin(), entries.end(), has);
  };
  if (any([](const RunEntry& entry) { return !entry.tag.empty(); })) columns.emplace_back("tag");
  if (any([](const RunEntry& entry) { return !entry.note.empty(); })) columns.emplace_back("note");
  return columns;
}

std::string list_text(std::span<const RunEntry> entries, const std::vector<std::string>& columns,
                      ListFormat format, std::size_t width) {
  switch (format) {
    case ListFormat::kJson:
      return list_json(entries) + "\n";
    case ListFormat::kCsv:
      return to_csv(entries);
    case ListFormat::kMarkdown:
      return make_table(entries, columns).markdown();
    case ListFormat::kText:
      break;
  }
  return make_table(entries, columns).text(width);
}

}  // namespace trainer::tracking
