// SPDX-License-Identifier: Apache-2.0
#include "trainer/workflows/wizard/column_kinds.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "trainer/base/text/parse.h"
#include "trainer/table/schema/row_numbers.h"

namespace trainer::wizard {
namespace {

using data::ColumnFacts;
using data::TableFacts;

constexpr int64_t kMaxNames = 100;  // a column with more distinct values is not proposed as target

// Whether all values differ and none is missing, in so many rows that this is hardly an accident.
bool is_unique(const ColumnFacts& column) {
  return column.num_missing == 0 && column.num_distinct > kFewValues && !column.has_repeats;
}

// The unit without the # that stands for the number: "%" for "#%".
std::string unit_name(const ColumnFacts& column) {
  std::string name = column.unit;
  return name.erase(name.find('#'), 1);
}

bool is_called_target(const std::string& name) {
  static constexpr std::array<std::string_view, 19> kNames = {
      "target",   "label",    "labels",   "class",  "y",     "outcome", "response",
      "species",  "category", "result",   "digit",  "price", "quality", "diagnosis",
      "survived", "churn",    "expected", "answer", "score"};
  const std::string lower = lower_case(name);
  return std::find(kNames.begin(), kNames.end(), lower) != kNames.end() ||
         lower.ends_with("_label") || lower.ends_with("_class") || lower.ends_with("_target");
}

}  // namespace

bool is_constant(const ColumnFacts& column) {
  if (column.num_values() == 0) return false;
  // Beyond 2^53 distinct integers may round to the same double.
  constexpr double kMaxExact = 9007199254740992.0;
  if (column.num_texts == 0) {
    return column.min == column.max &&
           (column.num_distinct <= 1 || std::abs(column.min) < kMaxExact);
  }
  return column.num_distinct == 1 && column.num_missing == 0;
}

bool is_mixed(const ColumnFacts& column) { return column.num_numbers > 0 && column.num_texts > 0; }

bool has_dates(const ColumnFacts& column) {
  return column.num_dates > 0 && 2 * column.num_dates > column.num_values();
}

bool has_unit(const ColumnFacts& column) {
  return column.num_with_unit > 0 && column.num_numbers == 0 &&
         2 * column.num_with_unit > column.num_texts;
}

bool names_rows(const ColumnFacts& column) {
  if (has_dates(column) || has_unit(column)) return false;
  // Most, not all: some hexadecimal identifiers have no letter or look like numbers (12e4).
  return is_unique(column) && column.num_texts > column.num_numbers;
}

bool numbers_rows(const ColumnFacts& column) {
  return is_unique(column) && column.num_texts == 0 &&
         (column.is_sequential || data::is_called_id(column.name));
}

data::TaskChoice infer_task(const ColumnFacts& column) {
  return data::infer_task({.all_numbers = column.num_texts == 0,
                           .all_whole = column.num_texts == 0 && column.is_whole,
                           .num_distinct = column.num_distinct,
                           .min = column.min,
                           .max = column.max,
                           .num_rows = column.num_values()});
}

std::string kind_text(const ColumnFacts& column) {
  constexpr std::size_t kMaxWidth = 16;
  if (!column.unusable_type.empty()) return column.unusable_type.substr(0, kMaxWidth);
  if (column.num_values() == 0) return "nothing";
  if (is_constant(column)) return "constant";
  if (has_dates(column)) return "dates";
  if (has_unit(column)) return "numbers with " + unit_name(column);
  if (names_rows(column)) return "row identifiers";
  if (numbers_rows(column)) return "row numbers";
  if (column.num_with_commas > 0 && column.num_with_commas == column.num_texts) {
    return "numbers with commas";
  }
  if (is_mixed(column)) return "numbers and text";
  if (column.num_texts > 0) return "text";
  return column.is_whole ? "integers" : "numbers";
}

std::string target_text(const ColumnFacts& column) {
  if (column.num_values() == 0 || is_constant(column) || has_dates(column) || names_rows(column) ||
      numbers_rows(column) || has_unit(column) || column.num_with_commas > 0) {
    return "";
  }
  if (infer_task(column).task == config::Task::kRegression) return "numeric";
  const bool is_plausible =
      column.num_distinct > 1 && column.num_distinct <= kMaxNames &&
      (column.num_distinct <= kFewValues || 2 * column.num_distinct <= column.num_values());
  return is_plausible ? fmt::format("{} classes", column.num_distinct) : "";
}

bool groups_rows(const ColumnFacts& column) {
  return data::is_called_id(column.name) && column.is_whole && column.has_repeats &&
         column.num_distinct > kFewValues;
}

std::vector<std::string> likely_targets(const TableFacts& table) {
  std::vector<std::string> likely;
  const auto add = [&](const ColumnFacts& column) {
    const bool is_new = std::find(likely.begin(), likely.end(), column.name) == likely.end();
    if (is_new && !target_text(column).empty()) likely.push_back(column.name);
  };
  for (const ColumnFacts& column : table.columns) {
    if (is_called_target(column.name)) add(column);
  }
  const auto last = std::find_if(table.columns.rbegin(), table.columns.rend(),
                                 [](const auto& column) { return !target_text(column).empty(); });
  if (last != table.columns.rend()) add(*last);
  if (table.columns.front().num_texts > 0) add(table.columns.front());
  return likely;
}

}  // namespace trainer::wizard
