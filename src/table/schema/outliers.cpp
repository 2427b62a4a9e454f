// SPDX-License-Identifier: Apache-2.0
#include "table/schema/outliers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "trainer/base/text/format.h"
#include "trainer/config/data_config.h"

#include "table/source/time_text.h"

namespace trainer::data {
namespace {

constexpr size_t kMinValues = 20;       // of fewer, nothing can be said
constexpr double kMinDeviations = 100;  // of a number
constexpr double kMinOfCodes = 20;      // of a code for a missing value
constexpr double kMinGap = 50;          // how many times as far as all others
constexpr double kMinGapOfCodes = 5;    // the same, for a code
constexpr size_t kMaxNamed = 8;         // columns

struct Distance {
  double distance = 0;  // from the median
  float value = 0;
  size_t index = 0;
};

struct Center {
  double median = 0;
  double deviation = 0;  // 0: not known
};

// Where most values are equal, by the distances of the others; not by a few of them.
Center find_center(Array<double> values) {
  constexpr double kOfNormal = 1.4826;  // a normal deviation in median distances
  if (values.size() < kMinValues) return {};
  Center center;
  center.median = lower_median(values);
  for (double& value : values) value = std::abs(value - center.median);
  center.deviation = kOfNormal * lower_median(values);
  if (center.deviation > 0) return center;
  values.resize(
      static_cast<size_t>(std::remove(values.begin(), values.end(), 0.0) - values.begin()));
  if (values.size() >= kMinValues) center.deviation = kOfNormal * lower_median(values);
  return center;
}

Array<double> present(std::span<const float> values) {
  Array<double> result;
  result.reserve(values.size());
  std::copy_if(values.begin(), values.end(), std::back_inserter(result),
               [](float value) { return !std::isnan(value); });
  return result;
}

// 999, -9999: what people write where nothing is known.
bool is_code(double value) {
  const double next = std::abs(value) + 1;
  constexpr int64_t kMaxPower = 10'000'000'000;
  for (int64_t power = 1000; power <= kMaxPower; power *= 10) {
    if (next == static_cast<double>(power)) return true;
  }
  return false;
}

/// The index in `far`, which ascends, from which on its values are outliers. `others` is the
/// largest distance that is not in it.
size_t first_outlier(const std::vector<Distance>& far, double others, const Center& center,
                     size_t num_values) {
  for (size_t i = 0; i < far.size(); ++i) {
    const double before = i == 0 ? others : far[i - 1].distance;
    const size_t count = far.size() - i;
    const double distance = far[i].distance;
    const bool is_few = count <= std::max<size_t>(1, num_values / 20);
    if (is_few && distance > kMinDeviations * center.deviation && distance > kMinGap * before) {
      return i;
    }
    const bool are_equal =
        far[i].value == far.back().value && far[i].distance == far.back().distance;
    if (are_equal && is_code(far[i].value) && distance > kMinGapOfCodes * before &&
        2 * count < num_values) {
      return i;
    }
  }
  return far.size();
}

Array<float> take_column(const Matrix& matrix, size_t column, std::span<const int64_t> rows) {
  const auto& values = std::get<Array<float>>(matrix.values);
  const auto width = static_cast<size_t>(matrix.num_columns);
  Array<float> result;
  result.reserve(rows.size());
  for (const int64_t row : rows)
    result.push_back(values[static_cast<size_t>(row) * width + column]);
  return result;
}

struct Range {
  float low = std::numeric_limits<float>::infinity();
  float high = -std::numeric_limits<float>::infinity();
};

/// Of each column, in one pass as the cells lie in memory; NaN is skipped.
std::vector<Range> find_ranges(const Matrix& matrix, std::span<const int64_t> rows) {
  const auto width = static_cast<size_t>(matrix.num_columns);
  const float* values = std::get<Array<float>>(matrix.values).data();
  std::vector<float> low(width, Range().low);
  std::vector<float> high(width, Range().high);
  for (const int64_t row : rows) {
    const float* cells = values + static_cast<size_t>(row) * width;
    for (size_t c = 0; c < width; ++c) low[c] = cells[c] < low[c] ? cells[c] : low[c];
    for (size_t c = 0; c < width; ++c) high[c] = cells[c] > high[c] ? cells[c] : high[c];
  }
  std::vector<Range> ranges(width);
  for (size_t c = 0; c < width; ++c) ranges[c] = {.low = low[c], .high = high[c]};
  return ranges;
}

// Whether it is worth to look at all cells of a column: by some of them and its range.
bool may_have_outliers(const Matrix& matrix, size_t column, std::span<const int64_t> rows,
                       const Range& range) {
  constexpr size_t kMaxSample = 1000;
  const size_t step = rows.size() / kMaxSample + 1;
  std::vector<int64_t> some;
  for (size_t i = 0; i < rows.size(); i += step) some.push_back(rows[i]);
  const Center center = find_center(present(take_column(matrix, column, some)));
  const double farthest = std::max(range.high - center.median, center.median - range.low);
  // A sample may miss what few cells differ by.
  return center.deviation == 0 ? range.low < range.high
                               : farthest > kMinOfCodes / 2 * center.deviation;
}

Array<int64_t> all_rows(int64_t num_rows) {
  Array<int64_t> rows(static_cast<size_t>(num_rows));
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

bool is_numeric(const Column& column) { return column.kind == ColumnKind::kNumeric; }

/// Calls use(column, column_index) for the columns of numbers.
template <class Columns, class Use>
void for_each_numeric(Columns& columns, const Table& table, const Use& use) {
  size_t column_index = 0;
  for (auto& column : columns) {
    if (column_index == table.feature_names.size()) return;
    if (table.feature_names[column_index] != column.name) continue;  // no cells
    if (is_numeric(column)) use(column, column_index);
    ++column_index;
  }
}

// How numbers of a column are written.
struct Writing {
  std::string column;  // of the file
  double offset = 0;
  bool is_time = false;  // seconds, to be written as a date
};

bool is_time_of_date(const Column& column) {
  return !column.source.empty() && column.date_part == config::DatePart::kSeconds;
}

// The year of a date is far from others where its seconds are.
bool is_told_by_seconds(const Column& column, const std::vector<Column>& columns) {
  if (column.source.empty() || is_time_of_date(column)) return false;
  return std::any_of(columns.begin(), columns.end(), [&](const Column& other) {
    return other.source == column.source && is_time_of_date(other);
  });
}

Writing writing_of(const Column& column) {
  return {.column = is_time_of_date(column) ? column.source : column.name,
          .offset = column.offset,
          .is_time = is_time_of_date(column)};
}

// A float32 far from the others may miss its time of day, which then is not shown.
std::string text_of_time(double value, double offset) {
  constexpr double kDay = 86400;
  constexpr double kMinute = 60;
  const double precision = std::abs(value) * std::numeric_limits<float>::epsilon();
  const double seconds = value + offset;
  return date_text(precision < kMinute ? seconds : std::round(seconds / kDay) * kDay);
}

// A cell as it is written, and one of the others shortly.
std::string cell_text(double value, const Writing& as) {
  if (as.is_time) return text_of_time(value, as.offset);
  return as.offset == 0 ? fmt::format("{}", static_cast<float>(value))
                        : fmt::format("{:.10g}", value + as.offset);
}

std::string short_text(double value, const Writing& as) {
  return as.offset == 0 && !as.is_time ? fmt::format("{:g}", value) : cell_text(value, as);
}

constexpr double kMaxExact = 1e9;  // deviations that are written as a whole number

// "t.csv:100: column "t": 1000000 is 26,954 deviations from the median 50.2, and all others are
// from 0.02 to 99.9".
std::string outlier_text(const Table& table, const Writing& as, const Outliers& found,
                         float value) {
  const size_t num_further = found.indices.size() - 1;
  const std::string further = num_further == 0
                                  ? "all others are"
                                  : fmt::format("{} more {} equally far or farther; all others are",
                                                with_thousands(static_cast<int64_t>(num_further)),
                                                num_further == 1 ? "cell is" : "cells are");
  const double deviations = std::abs(value - found.median) / found.deviation;
  const std::string distance = deviations < kMaxExact ? with_thousands(std::llround(deviations))
                                                      : fmt::format("{:.1e}", deviations);
  return fmt::format("{}: column {}: {} is {} deviations from the median {}; {} from {} to {}",
                     row_location(table, found.indices.front()), in_quotes(as.column),
                     cell_text(value, as), distance, short_text(found.median, as), further,
                     short_text(found.low, as), short_text(found.high, as));
}

void keep_few(std::vector<std::string>& lines) {
  if (lines.size() <= kMaxNamed) return;
  const size_t num_more = lines.size() - kMaxNamed;
  lines.resize(kMaxNamed);
  lines.push_back(fmt::format("{} more {} such cells", num_more,
                              num_more == 1 ? "column has" : "columns have"));
}

/// Limits the cells of a column, some of which are beyond its limits, and says which.
std::string limit_cells(Table& table, const Column& column, size_t column_index) {
  auto& cells = std::get<Array<float>>(table.features.values);
  const auto width = static_cast<size_t>(table.features.num_columns);
  int64_t count = 0;
  size_t first = cells.size();
  for (size_t i = column_index; i < cells.size(); i += width) {
    const bool is_beyond = cells[i] < column.limits->low || cells[i] > column.limits->high;
    if (is_beyond && count++ == 0) first = i;
  }
  const Writing as = writing_of(column);
  const auto limit_text = [&](float limit) {
    return as.is_time ? cell_text(limit, as) : text_in_file_units(column, limit);
  };
  std::string line = fmt::format(
      "{}: {} clipped to {} .. {}, the first is {} in {} {}", in_quotes(column.name),
      counted(count, "cell"), limit_text(column.limits->low), limit_text(column.limits->high),
      cell_text(cells[first], as), table.has_lines ? "line" : "row", table.lines[first / width]);
  for (size_t i = column_index; i < cells.size(); i += width) {
    cells[i] = limited(cells[i], *column.limits);
  }
  return line;
}

}  // namespace

std::optional<Outliers> find_outliers(std::span<const float> values) {
  const Array<double> numbers = present(values);
  const Center center = find_center(numbers);
  if (center.deviation == 0) return std::nullopt;
  std::vector<Distance> far;
  double others = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double distance = std::abs(values[i] - center.median);
    if (distance > kMinOfCodes * center.deviation) {
      far.push_back({distance, values[i], i});
    } else if (distance > others) {
      others = distance;
    }
  }
  if (far.empty() || others == 0) return std::nullopt;
  std::sort(far.begin(), far.end(),
            [](const Distance& a, const Distance& b) { return a.distance < b.distance; });
  const size_t first = first_outlier(far, others, center, numbers.size());
  if (first == far.size()) return std::nullopt;
  Outliers outliers;
  outliers.median = center.median;
  outliers.deviation = center.deviation;
  for (size_t i = first; i < far.size(); ++i) outliers.indices.push_back(far[i].index);
  std::sort(outliers.indices.begin(), outliers.indices.end());
  Range range;
  for (const float value : values) {
    if (std::isnan(value) || std::abs(value - center.median) >= far[first].distance) continue;
    range = {.low = std::min(range.low, value), .high = std::max(range.high, value)};
  }
  outliers.low = range.low;
  outliers.high = range.high;
  return outliers;
}

std::vector<std::string> limit_columns(Table& table, std::span<const int64_t> train_rows) {
  std::vector<std::string> lines;
  const std::vector<Range> ranges = find_ranges(table.features, train_rows);
  const Array<int64_t> all = all_rows(table.features.num_rows);
  const std::vector<Range> all_ranges = find_ranges(table.features, all);
  for_each_numeric(table.columns, table, [&](Column& column, size_t column_index) {
    Range range = ranges[column_index];
    if (range.low > range.high) return;  // no value
    if (may_have_outliers(table.features, column_index, train_rows, range)) {
      const auto found = find_outliers(take_column(table.features, column_index, train_rows));
      if (found) {
        range = {.low = static_cast<float>(found->low), .high = static_cast<float>(found->high)};
      }
    }
    const float room = range.high - range.low;
    column.limits = Limits{.low = range.low - room, .high = range.high + room};
    const bool are_within = all_ranges[column_index].low >= column.limits->low &&
                            all_ranges[column_index].high <= column.limits->high;
    if (!are_within) lines.push_back(limit_cells(table, column, column_index));
  });
  keep_few(lines);
  return lines;
}

std::vector<std::string> describe_outliers(const Table& table, const Target& target,
                                           const config::DataConfig& data) {
  std::vector<std::string> lines;
  const Array<int64_t> rows = all_rows(table.features.num_rows);
  // Others do not suffer, nor are these cells anything but the ends of what quantiles are of.
  const bool do_cells_rule =
      data.scaling != config::ScalingMethod::kRobust && !config::is_by_quantiles(data.scaling);
  if (data.outliers == config::Outliers::kWarn && do_cells_rule) {
    const std::vector<Range> ranges = find_ranges(table.features, rows);
    for_each_numeric(table.columns, table, [&](const Column& column, size_t column_index) {
      if (is_told_by_seconds(column, table.columns)) return;
      if (!may_have_outliers(table.features, column_index, rows, ranges[column_index])) return;
      const Array<float> cells = take_column(table.features, column_index, rows);
      const auto found = find_outliers(cells);
      if (!found) return;
      lines.push_back(
          outlier_text(table, writing_of(column), *found, cells[found->indices.front()]) +
          fmt::format("; correct it, set data.outliers: clip, or data.scaling: robust or quantile, "
                      "or add {} to data.missing if it is a code for missing values",
                      column.source.empty() ? "it" : "the date, as it is written,"));
    });
  }
  const size_t num_targets = target.values.size() / rows.size();
  const Matrix values{.num_rows = table.features.num_rows,
                      .num_columns = static_cast<int64_t>(num_targets),
                      .values = target.values};
  for (size_t i = 0; i < num_targets; ++i) {
    const Array<float> column = take_column(values, i, rows);
    const auto found = find_outliers(column);
    if (!found) continue;
    const Writing as{.column = table.target_names[i],
                     .offset = target.offsets.empty() ? 0 : target.offsets[i]};
    lines.push_back(
        outlier_text(table, as, *found, column[found->indices.front()]) +
        "; correct the target or remove the row, or set training.loss: huber or l1, which are less "
        "sensitive to it");
  }
  keep_few(lines);
  return lines;
}

}  // namespace trainer::data
