// SPDX-License-Identifier: Apache-2.0
#include "trainer/workflows/wizard/column_kinds.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "trainer/base/text/enum_names.h"
#include "trainer/base/text/format.h"
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

namespace {

using data::ColumnFacts;
using data::TableFacts;

constexpr int64_t kFewCells = 10;  // with fewer values it is unknown which ones are usual

// Whether people use a text for missing values in tables; all texts without letters and digits
// count.
bool looks_missing(const std::string& text) {
  static constexpr std::array<std::string_view, 14> kNames = {
      "unknown", "missing", "nil",           "n.a.",       "n.a",       "n/d",        "nd",
      "k.a.",    "void",    "not available", "00.00.0000", "undefined", "0000-00-00", "00/00/0000"};
  const bool has_letters = std::any_of(
      text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c >= 0x80; });
  const std::string lower = lower_case(text);
  return !has_letters || std::find(kNames.begin(), kNames.end(), lower) != kNames.end();
}

// Adds the texts in a column of numbers or dates that look missing (-, unknown), and all of its
// texts if they are very few, such as a typing error (12O).
void add_text_codes(const ColumnFacts& column, std::vector<MissingCode>& codes) {
  constexpr int64_t kHardlyAny = 100;  // texts are few with this many good values per text
  const int64_t num_good = has_dates(column)  ? column.num_dates
                           : has_unit(column) ? column.num_with_unit
                                              : column.num_numbers;
  if (column.num_with_commas > 0 || num_good < kFewCells) return;
  const bool are_few = kHardlyAny * (column.num_values() - num_good) <= num_good &&
                       (column.num_distinct == 0 || column.num_distinct > kFewCells);
  for (const auto& [text, count] : column.odd_texts) {
    if (are_few || looks_missing(text)) codes.push_back({column.name, text, count});
  }
}

// Adds a negative smallest number of nines, such as -999, that is farther from the next number than
// all other numbers are from each other.
void add_number_code(const ColumnFacts& column, std::vector<MissingCode>& codes) {
  if (column.num_numbers == column.num_min || column.min >= 0) return;
  const std::string text = shortest(column.min);
  const bool is_nines = text.find_first_not_of('9', 1) == std::string::npos;
  const double distance = column.next_min - column.min;
  if (!is_nines || distance <= column.max - column.next_min) return;
  codes.push_back({column.name, text, column.num_min});
}

}  // namespace

std::vector<MissingCode> find_missing_codes(const TableFacts& table) {
  std::vector<MissingCode> codes;
  for (const ColumnFacts& column : table.columns) {
    add_text_codes(column, codes);
    if (column.num_texts == 0) add_number_code(column, codes);
  }
  return codes;
}

std::string find_missing_class(const TableFacts& table, const std::string& target) {
  static constexpr std::array<std::string_view, 4> kWords = {"none", "na", "n/a", "null"};
  const ColumnFacts* found = find_by_name(table.columns, target);
  if (found == nullptr || found->missing_texts.size() != 1) return "";
  const auto& [text, count] = found->missing_texts.front();
  const std::string lower = lower_case(text);
  const bool is_word = std::find(kWords.begin(), kWords.end(), lower) != kWords.end();
  const bool are_labels = found->num_numbers == 0 && !found->labels.empty();
  if (!is_word || !are_labels || count < 2 || count != found->num_missing) return "";
  const auto least =
      std::min_element(found->labels.begin(), found->labels.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (2 * count < least->second) return "";
  const bool has_number =
      std::any_of(table.columns.begin(), table.columns.end(), [&](const ColumnFacts& column) {
        return column.num_numbers > 0 &&
               std::any_of(column.missing_texts.begin(), column.missing_texts.end(),
                           [&](const auto& other) { return lower_case(other.first) == lower; });
      });
  return has_number ? "" : text;
}

}  // namespace trainer::wizard
