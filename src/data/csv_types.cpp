// SPDX-License-Identifier: Apache-2.0
#include "data/csv_types.h"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "data/number_text.h"
#include "data/offset.h"
#include "data/time_text.h"

namespace trainer::data {
namespace {

/// What was seen of a column.
struct Count {
  int64_t numbers = 0;
  int64_t texts = 0;
  int64_t dates = 0;  // of these
  OffsetSample sample = {};
};

void count_number(Count& count, double number, size_t max_values) {
  ++count.numbers;
  count.sample.add(number, max_values);
}

// A column that is none ends this with its first text.
void count_date(Count& count, std::string_view field, size_t max_values) {
  if (count.dates < count.texts || count.numbers > 0) return;
  const std::optional<Time> time = parse_time(field);
  if (!time) return;
  ++count.dates;
  count.sample.add(time->value, max_values);
}

void count_field(Count& count, std::string_view field, char decimal, size_t max_values) {
  if (const std::optional<double> number = number_in(field, decimal)) {
    count_number(count, *number, max_values);
  } else {
    count_date(count, field, max_values);
    ++(rewritten_number(field, decimal).empty() ? count.texts : count.numbers);
  }
}

/// Counts the cells of one row; false when it has another number of cells than the header.
bool count_row(CsvCursor& cursor, const TableHeader& header, std::vector<double>& numbers,
               std::vector<Count>& counts) {
  const size_t max_values = max_sample_values(counts.size());
  for (size_t column = 0; column < counts.size();) {
    if (!cursor.in_row()) return false;
    const size_t plain =
        cursor.next_plain_numbers(std::span(numbers).first(header.numbers_from[column]));
    for (size_t i = 0; i < plain; ++i) count_number(counts[column + i], numbers[i], max_values);
    column += plain;
    if (plain > 0) continue;
    const std::string_view field = cursor.next_field();
    if (!is_missing(field, cursor.format())) {
      count_field(counts[column], field, cursor.format().decimal, max_values);
    }
    ++column;
  }
  return !cursor.in_row();
}

// Whether only more rows can tell what a column is.
bool is_open(const HeaderColumn& column, const Count& count) {
  return !column.is_declared && count.numbers + count.texts == 0;
}

// Whether only more rows can tell the offset of a column.
bool has_open_offset(const HeaderColumn& column, const Count& count) {
  const bool is_number = column.is_declared && column.role == Role::kNumber;
  return (count.texts == 0 && count.sample.is_open()) || (is_number && count.numbers == 0);
}

/// The first column from `column` on that is so: what is known of a column stays known.
template <class IsSo>
size_t first_from(size_t column, const TableHeader& header, const std::vector<Count>& counts,
                  IsSo is_so) {
  while (column < counts.size() && !is_so(header.columns[column], counts[column])) ++column;
  return column;
}

void decide(TableHeader& header, size_t index, const Count& count) {
  HeaderColumn& column = header.columns[index];
  const bool are_dates = count.dates > 0 && count.dates == count.texts && count.numbers == 0;
  if (are_dates && !header.date_parts.empty()) {
    make_date(header, index);
  } else if (count.numbers + count.texts == 0) {
    column.role = Role::kSkipped;
    column.kind = ColumnKind::kIgnored;
    column.reason = "all cells are missing";
  } else if (count.texts > count.numbers) {
    column.role = Role::kText;
    column.kind = ColumnKind::kCategorical;
  }
}

}  // namespace

void infer_column_types(CsvSource& source, TableHeader& header) {
  std::vector<Count> counts(header.columns.size());
  std::vector<double> numbers(header.num_features);
  size_t first_open = 0;
  size_t first_open_offset = 0;
  for (int64_t row = 0;; ++row) {
    first_open = first_from(first_open, header, counts, is_open);
    if (row >= kMinSampleRows && first_open == counts.size()) {
      first_open_offset = first_from(first_open_offset, header, counts, has_open_offset);
      if (row >= kMaxSampleRows || first_open_offset == counts.size()) break;
    }
    // The reader has the words for a row that is too short or too long.
    if (!source.begin_row() || !count_row(source.cursor(), header, numbers, counts)) break;
  }
  for (size_t column = 0; column < counts.size(); ++column) {
    if (!header.columns[column].is_declared) decide(header, column, counts[column]);
    const Role role = header.columns[column].role;
    const bool is_number = role == Role::kNumber || role == Role::kDate;
    header.offsets[column] = is_number ? choose_offset(counts[column].sample.take()) : 0;
  }
}

}  // namespace trainer::data
