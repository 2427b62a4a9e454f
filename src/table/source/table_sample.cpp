// SPDX-License-Identifier: Apache-2.0
#include "table/source/table_sample.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "table/schema/outliers.h"
#include "table/source/number_text.h"
#include "table/source/row_reader.h"
#include "table/source/time_text.h"

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
  bool needs_numbers = false;  // it is one of numbers, whatever its cells are

  // Most values.
  bool are_dates() const {
    return dates.num_dates() > 0 && 2 * dates.num_dates() > numbers + texts;
  }
  bool have_unit() const {
    return has_one_unit && with_unit > 0 && numbers == 0 && 2 * with_unit > texts;
  }
};

/// Looks at rows until enough is known. Of a source with types only the offsets are open.
class Sample {
 public:
  Sample(const ChunkSource& source, const TableHeader& header)
      : header_(header), format_(source.format()), has_types_(source.has_types()) {
    counts_.resize(header.columns.size());
    if (has_types_) {
      plan_ = plan_readings(header, source);
      for (const WantedColumn& column : plan_.wanted) {
        counts_[column.index].needs_numbers = column.type == CellType::kNumber;
      }
    } else {
      plan_.weight = weight_column(header);
      for (std::size_t i = 0; i < header.columns.size(); ++i) {
        plan_.wanted.push_back({i, i == plan_.weight ? CellType::kText : CellType::kNumber});
        const HeaderColumn& column = header.columns[i];
        counts_[i].needs_numbers = column.is_declared && column.role == Role::kNumber;
      }
    }
    max_values_ = max_sample_values(std::max<std::size_t>(1, plan_.wanted.size()));
  }

  const std::vector<WantedColumn>& wanted() const { return plan_.wanted; }
  Count& count(std::size_t column) { return counts_[column]; }

  /// False when no more rows are needed, or one has another number of cells than the header: the
  /// reader has the words for it.
  bool add(const Chunk& chunk) {
    auto odd = chunk.odd.begin();
    for (int64_t row = 0; row < chunk.num_rows; ++row) {
      if (is_enough()) return false;
      const bool ends = !chunk.malformed.empty() && chunk.malformed.front().first == row;
      if (ends) return false;
      ++num_rows_;
      while (odd != chunk.odd.end() && odd->row < row) ++odd;
      if (!has_weight_zero(chunk, plan_, row, format_)) add_row(chunk, row, odd);
    }
    return !is_enough();
  }

 private:
  void add_row(const Chunk& chunk, int64_t row, std::vector<OddCell>::const_iterator odd) {
    for (std::size_t i = 0; i < plan_.wanted.size(); ++i) {
      const ChunkColumn& cells = chunk.columns[i];
      if (cells.type != CellType::kNumber) continue;
      Count& count = counts_[plan_.wanted[i].index];
      if (odd != chunk.odd.end() && odd->row == row && odd->column == i) {
        if (!is_missing(odd->text, format_)) add_text(count, odd->text);
        ++odd;
      } else if (cells.has_number(row)) {
        add_number(count, cells.number(row));
      }
    }
  }

  void add_number(Count& count, double number) const {
    ++count.numbers;
    count.sample.add(number, max_values_);
  }

  void add_text(Count& count, std::string_view field) const {
    if (const std::optional<double> number = number_in(field, format_)) {
      add_number(count, *number);
    } else if (!rewritten_number(field, format_).empty()) {
      ++count.numbers;
    } else {
      ++count.texts;
      if (const std::optional<double> seconds = count.dates.add(field)) {
        count.sample.add(*seconds, max_values_);
      } else {
        add_unit(count, field);
      }
    }
  }

  void add_unit(Count& count, std::string_view field) const {
    const std::optional<NumberWithUnit> parts = split_unit(field);
    if (!parts) return;
    const std::optional<double> number = number_in(parts->number, format_);
    if (!number) return;
    if (count.with_unit++ == 0) count.unit = parts->unit;
    count.has_one_unit = count.has_one_unit && parts->unit == count.unit;
    count.sample.add(*number, max_values_);
  }

  // What is known of a column stays known, so the first open one only moves on.
  bool is_enough() {
    while (first_open_ < counts_.size() && !is_open(first_open_)) ++first_open_;
    if (num_rows_ < kMinSampleRows || first_open_ < counts_.size()) return false;
    while (first_open_offset_ < counts_.size() && !has_open_offset(first_open_offset_)) {
      ++first_open_offset_;
    }
    return num_rows_ >= kMaxSampleRows || first_open_offset_ == counts_.size();
  }

  // Whether only more rows can tell what the column is.
  bool is_open(std::size_t index) const {
    if (has_types_) return false;
    const HeaderColumn& column = header_.columns[index];
    const Count& count = counts_[index];
    const bool needs_order =
        header_.date_order == config::DateOrder::kAuto &&
        (column.is_time || (!column.is_declared && !header_.date_parts.empty()));
    if (needs_order && count.are_dates() && count.dates.is_open()) return true;
    return !column.is_declared && count.numbers + count.texts == 0;
  }

  // Whether only more rows can tell its offset.
  bool has_open_offset(std::size_t index) const {
    const Count& count = counts_[index];
    return (count.texts == 0 && count.sample.is_open()) ||
           (count.needs_numbers && count.numbers == 0);
  }

  const TableHeader& header_;
  const CsvFormat& format_;
  bool has_types_;
  ReadingPlan plan_;
  std::size_t max_values_ = 0;
  std::vector<Count> counts_;  // [columns of the table]
  int64_t num_rows_ = 0;
  std::size_t first_open_ = 0;
  std::size_t first_open_offset_ = 0;
};

void leave_out(HeaderColumn& column, std::string reason) {
  column.role = Role::kSkipped;
  column.kind = ColumnKind::kIgnored;
  column.reason = std::move(reason);
}

void decide(TableHeader& header, std::size_t index, const Count& count) {
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

void decide_column(TableHeader& header, std::size_t index, const Count& count) {
  HeaderColumn& column = header.columns[index];
  column.date_order = header.date_order == config::DateOrder::kAuto
                          ? count.dates.order().value_or(config::DateOrder::kYearFirst)
                          : header.date_order;
  if (!column.is_declared) {
    decide(header, index, count);
  } else if (column.role == Role::kNumber && count.have_unit()) {
    column.unit = count.unit;
  }
}

}  // namespace

void decide_by_sample(ChunkSource& source, TableHeader& header) {
  Sample sample(source, header);
  source.start(sample.wanted(), ChunkSource::Pass::kSample);
  Chunk chunk;
  while (source.next(chunk, std::numeric_limits<int64_t>::max()) && sample.add(chunk)) {
  }
  for (std::size_t i = 0; i < header.columns.size(); ++i) {
    Count& count = sample.count(i);
    if (!source.has_types()) decide_column(header, i, count);
    const Role role = header.columns[i].role;
    const bool is_number = role == Role::kNumber || role == Role::kDate;
    header.offsets[i] = is_number ? choose_offset(count.sample.take()) : 0;
  }
}

namespace {

// From here on float32 does not hold every whole number.
constexpr double kFirstLarge = 1 << 24;

// A value that half of the rows have says nothing of how the others differ: a code, a default.
Array<double> without_majority(const Array<double>& values, double median) {
  Array<double> others;
  std::copy_if(values.begin(), values.end(), std::back_inserter(others),
               [&](double value) { return value != median; });
  return 2 * others.size() <= values.size() ? others : values;
}

/// The median distance from `median`, or where most are equal, the largest.
double spread_around(double median, Array<double> values) {
  for (double& value : values) value = std::abs(value - median);
  const double spread = lower_median(values);
  return spread > 0 ? spread : *std::max_element(values.begin(), values.end());
}

// The cells of an ordinary column must not move: years, ages, prices, pixels, coordinates in
// degrees. What they differ by is at least a part in some thousands of themselves, and float32,
// which rounds to a part in 2^25, keeps a thousand steps of that. Whole numbers are exact as long
// as they are small, however close they are.
bool would_lose(double median, double spread, bool are_whole) {
  const double size = std::abs(median);
  if (size >= kFirstLarge) return spread < size / 32;
  constexpr double kMaxRatio = 1 << 14;  // rounds to at most a part in 2^11 of the spread
  return !are_whole && spread > 0 && size > kMaxRatio * spread;
}

// An offset costs what is nearer to 0 than to it its digits. That may be so of outliers, and of one
// value, such as 0 for what never was.
bool would_harm(const Array<double>& values, double offset) {
  constexpr size_t kFewParts = 16;
  Array<double> harmed;
  std::copy_if(values.begin(), values.end(), std::back_inserter(harmed),
               [&](double value) { return std::abs(value) < std::abs(value - offset); });
  const bool are_equal = std::all_of(harmed.begin(), harmed.end(),
                                     [&](double value) { return value == harmed.front(); });
  return !are_equal && kFewParts * harmed.size() > values.size();
}

bool are_whole(const Array<double>& values) {
  return std::all_of(values.begin(), values.end(),
                     [](double value) { return std::trunc(value) == value; });
}

}  // namespace

size_t max_sample_values(size_t num_columns) {
  constexpr size_t kMaxOfAll = size_t{1} << 20;
  return std::clamp(kMaxOfAll / num_columns, size_t{16}, size_t{256});
}

bool is_large_constant(double value) {
  return std::abs(value) >= kFirstLarge && std::abs(value) <= std::numeric_limits<float>::max();
}

double choose_offset(Array<double> values) {
  if (values.empty()) return 0;
  const double middle = lower_median(values);
  Array<double> different = without_majority(values, middle);
  if (different.empty()) return is_large_constant(middle) ? middle : 0;
  const double median = lower_median(different);
  // What float32 cannot hold at all stays an error.
  if (std::abs(median) > std::numeric_limits<float>::max()) return 0;
  const double spread = spread_around(median, different);
  if (!would_lose(median, spread, are_whole(different))) return 0;
  return would_harm(values, median) ? 0 : median;
}

}  // namespace trainer::data
