// SPDX-License-Identifier: Apache-2.0
#include "trainer/table/schema/row_numbers.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>

#include "trainer/base/text/format.h"
#include "trainer/base/text/parse.h"

#include "table/schema/fit_schema.h"

namespace trainer::data {
namespace {

/// Of one column.
class RowNumbers {
 public:
  RowNumbers(const Table& table, const Column& column)
      : cells_(table), column_(cells_.index_of(column)), offset_(column.offset) {}

  bool are_there(size_t num_rows, std::string_view name) const {
    const double width = at(num_rows - 1) - at(0);
    const bool has_few_gaps = width < 2 * static_cast<double>(num_rows);
    return (has_few_gaps && are_ascending(num_rows)) ||
           (is_called_id(name) && are_different(num_rows));
  }

 private:
  double at(size_t row) const { return static_cast<double>(cells_.at(row, column_)) + offset_; }

  bool is_whole(size_t row) const {
    const double number = at(row);
    return std::isfinite(number) && std::trunc(number) == number;
  }

  bool are_ascending(size_t num_rows) const {
    for (size_t row = 0; row < num_rows; ++row) {
      if (!is_whole(row) || (row > 0 && at(row) <= at(row - 1))) return false;
    }
    return true;
  }

  bool are_different(size_t num_rows) const {
    std::vector<double> numbers;
    for (size_t row = 0; row < num_rows; ++row) {
      if (!is_whole(row)) return false;
      numbers.push_back(at(row));
    }
    std::sort(numbers.begin(), numbers.end());
    return std::adjacent_find(numbers.begin(), numbers.end()) == numbers.end();
  }

  Cells cells_;
  size_t column_;
  double offset_;
};

}  // namespace

bool is_called_id(std::string_view name) {
  const std::string lower = lower_case(name);
  return lower == "id" || lower == "index" || lower.ends_with("_id") || lower.ends_with(" id") ||
         name.ends_with("Id") || name.ends_with("ID");
}

std::vector<std::string> find_row_numbers(const Table& table) {
  constexpr size_t kFewRows = 10;
  const auto num_rows = static_cast<size_t>(table.features.num_rows);
  if (num_rows <= kFewRows) return {};
  std::vector<std::string> names;
  for (const Column& column : table.columns) {
    const bool is_open = column.kind == ColumnKind::kNumeric && !column.is_declared;
    if (!is_open || !column.source.empty()) continue;
    if (RowNumbers(table, column).are_there(num_rows, column.name)) {
      names.push_back(in_quotes(column.name));
    }
  }
  if (names.empty()) return {};
  constexpr size_t kMaxListed = 8;
  if (names.size() > kMaxListed) {
    const size_t num_more = names.size() - kMaxListed;
    names.resize(kMaxListed);
    names.push_back(fmt::format("{} more", num_more));
  }
  return {
      fmt::format("row numbers: {}, with a different integer in every row; a model learns the "
                  "order of the file from them: list them in data.id or data.ignore",
                  joined(names))};
}

}  // namespace trainer::data
