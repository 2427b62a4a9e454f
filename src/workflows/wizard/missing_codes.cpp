// SPDX-License-Identifier: Apache-2.0
#include "trainer/workflows/wizard/missing_codes.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "trainer/base/text/find_by_name.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/parse.h"
#include "trainer/workflows/wizard/column_kinds.h"

namespace trainer::wizard {
namespace {

using data::ColumnFacts;
using data::TableFacts;

constexpr int64_t kTooFew = 10;  // with fewer values it is unknown which ones are usual

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
  if (column.num_with_commas > 0 || num_good < kTooFew) return;
  const bool are_few = kHardlyAny * (column.num_values() - num_good) <= num_good &&
                       (column.num_distinct == 0 || column.num_distinct > kTooFew);
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
