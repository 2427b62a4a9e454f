// SPDX-License-Identifier: Apache-2.0
#include "trainer/tracking/run_list.h"

#include <algorithm>
#include <set>
#include <utility>

#include "trainer/core/format.h"
#include "trainer/core/text_table.h"
#include "trainer/tracking/query.h"

#include "tracking/run_json.h"
#include "tracking/table_text.h"

namespace trainer::tracking {
namespace {

constexpr std::size_t kMaxWidth = 40;  // of a note or another text

using Rows = std::vector<std::vector<std::string>>;

Rows rows_of(std::span<const RunEntry> entries, const std::vector<std::string>& columns) {
  Rows rows = {columns};
  for (const RunEntry& entry : entries) {
    std::vector<std::string> row;
    row.reserve(columns.size());
    for (const std::string& column : columns) row.push_back(shown_value(entry, column));
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string to_text_table(Rows rows) {
  for (auto& row : rows) {
    for (std::string& cell : row) {
      std::replace(cell.begin(), cell.end(), '\n', ' ');
      cell = shortened(cell, kMaxWidth);
    }
  }
  return text_table(rows);
}

/// All that the entries have, as programs read it.
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
  Rows rows = {names};
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
    rows.push_back(std::move(cells));
  }
  return csv_text(rows);
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
                      ListFormat format) {
  switch (format) {
    case ListFormat::kJson:
      return list_json(entries) + "\n";
    case ListFormat::kCsv:
      return to_csv(entries);
    case ListFormat::kMarkdown:
      return markdown_text(rows_of(entries, columns));
    case ListFormat::kText:
      break;
  }
  return to_text_table(rows_of(entries, columns));
}

}  // namespace trainer::tracking
