// SPDX-License-Identifier: Apache-2.0
#include "data/csv_types.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "data/csv_rows.h"
#include "data/number_text.h"
#include "data/offset.h"
#include "data/time_text.h"

namespace trainer::data {
namespace {

/// What was seen of a column.
struct Count {
  int64_t numbers = 0;
  int64_t texts = 0;
  DateOrders dates = {};  // of these
  int64_t with_unit = 0;  // of these, numbers with the same unit
  std::string unit = {};  // of the first one
  bool has_one_unit = true;
  OffsetSample sample = {};

  // Most values.
  bool are_dates() const {
    return dates.num_dates() > 0 && 2 * dates.num_dates() > numbers + texts;
  }
  bool have_unit() const {
    return has_one_unit && with_unit > 0 && numbers == 0 && 2 * with_unit > texts;
  }
};

void count_number(Count& count, double number, size_t max_values) {
  ++count.numbers;
  count.sample.add(number, max_values);
}

void count_unit(Count& count, std::string_view field, const CsvFormat& format, size_t max_values) {
  const std::optional<NumberWithUnit> parts = split_unit(field);
  if (!parts) return;
  const std::optional<double> number = number_in(parts->number, format);
  if (!number) return;
  if (count.with_unit++ == 0) count.unit = parts->unit;
  count.has_one_unit = count.has_one_unit && parts->unit == count.unit;
  count.sample.add(*number, max_values);
}

void count_field(Count& count, std::string_view field, const CsvFormat& format, size_t max_values) {
  if (const std::optional<double> number = number_in(field, format)) {
    count_number(count, *number, max_values);
  } else if (!rewritten_number(field, format).empty()) {
    ++count.numbers;
  } else {
    ++count.texts;
    if (const std::optional<double> seconds = count.dates.add(field)) {
      count.sample.add(*seconds, max_values);
    } else {
      count_unit(count, field, format, max_values);
    }
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
      count_field(counts[column], field, cursor.format(), max_values);
    }
    ++column;
  }
  return !cursor.in_row();
}

// Whether only more rows can tell what a column is.
bool is_open(const TableHeader& header, size_t index, const Count& count) {
  const HeaderColumn& column = header.columns[index];
  const bool needs_order = header.date_order == config::DateOrder::kAuto &&
                           (column.is_time || (!column.is_declared && !header.date_parts.empty()));
  if (needs_order && count.are_dates() && count.dates.is_open()) return true;
  return !column.is_declared && count.numbers + count.texts == 0;
}

// Whether only more rows can tell the offset of a column.
bool has_open_offset(const TableHeader& header, size_t index, const Count& count) {
  const HeaderColumn& column = header.columns[index];
  const bool is_number = column.is_declared && column.role == Role::kNumber;
  return (count.texts == 0 && count.sample.is_open()) || (is_number && count.numbers == 0);
}

/// The first column from `column` on that is so: what is known of a column stays known.
template <class IsSo>
size_t first_from(size_t column, const TableHeader& header, const std::vector<Count>& counts,
                  IsSo is_so) {
  while (column < counts.size() && !is_so(header, column, counts[column])) ++column;
  return column;
}

void leave_out(HeaderColumn& column, std::string reason) {
  column.role = Role::kSkipped;
  column.kind = ColumnKind::kIgnored;
  column.reason = std::move(reason);
}

void decide(TableHeader& header, size_t index, const Count& count) {
  HeaderColumn& column = header.columns[index];
  if (count.are_dates() && !header.date_parts.empty()) {
    if (header.date_order == config::DateOrder::kAuto && count.dates.is_open()) {
      leave_out(column, fmt::format("no date tells day from month, such as {}; set "
                                    "data.date_order: day_first or month_first",
                                    count.dates.example()));
    } else {
      make_date(header, index);
    }
  } else if (count.numbers + count.texts == 0) {
    leave_out(column, "all cells are missing");
  } else if (count.have_unit()) {
    column.unit = count.unit;
  } else if (count.texts > count.numbers) {
    column.role = Role::kText;
    column.kind = ColumnKind::kCategorical;
  }
}

}  // namespace

void infer_column_types(CsvSource& source, TableHeader& header) {
  std::vector<Count> counts(header.columns.size());
  std::vector<double> numbers(header.num_features);
  const std::optional<size_t> weight = weight_column(header);
  size_t first_open = 0;
  size_t first_open_offset = 0;
  for (int64_t row = 0;; ++row) {
    first_open = first_from(first_open, header, counts, is_open);
    if (row >= kMinSampleRows && first_open == counts.size()) {
      first_open_offset = first_from(first_open_offset, header, counts, has_open_offset);
      if (row >= kMaxSampleRows || first_open_offset == counts.size()) break;
    }
    // The reader has the words for a row that is too short or too long.
    if (!source.begin_row()) break;
    if (weight && has_weight_zero(source.cursor(), *weight)) {
      source.cursor().count_fields();
      continue;
    }
    if (!count_row(source.cursor(), header, numbers, counts)) break;
  }
  for (size_t column = 0; column < counts.size(); ++column) {
    HeaderColumn& about = header.columns[column];
    about.date_order = header.date_order == config::DateOrder::kAuto
                           ? counts[column].dates.order().value_or(config::DateOrder::kYearFirst)
                           : header.date_order;
    if (!about.is_declared) decide(header, column, counts[column]);
    const Role role = about.role;
    if (about.is_declared && role == Role::kNumber && counts[column].have_unit()) {
      about.unit = counts[column].unit;
    }
    const bool is_number = role == Role::kNumber || role == Role::kDate;
    header.offsets[column] = is_number ? choose_offset(counts[column].sample.take()) : 0;
  }
}

}  // namespace trainer::data
