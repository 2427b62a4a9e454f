// SPDX-License-Identifier: Apache-2.0
#include "trainer/table/schema/columns.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "trainer/base/parallel/parallel.h"
#include "trainer/base/text/format.h"
#include "trainer/table/schema/value_index.h"

#include "table/error.h"
#include "table/schema/fit_schema.h"

namespace trainer::data {
namespace {

double find_median(Array<float> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (static_cast<double>(*std::max_element(values.begin(), middle)) + *middle) / 2;
}

/// Of each column in some rows.
struct Sums {
  std::vector<double> sums;
  std::vector<int64_t> num_present;
};

/// Row by row, as the cells lie in memory.
Sums sum_columns(const Matrix& cells, std::span<const int64_t> rows) {
  const auto width = static_cast<size_t>(cells.num_columns);
  const float* values = std::get<Array<float>>(cells.values).data();
  Sums result{std::vector<double>(width), std::vector<int64_t>(width)};
  double* sums = result.sums.data();
  int64_t* num_present = result.num_present.data();
  for (const int64_t row : rows) {
    const float* cell = values + static_cast<size_t>(row) * width;
    for (size_t c = 0; c < width; ++c) {
      const bool is_present = !std::isnan(cell[c]);
      sums[c] += is_present ? static_cast<double>(cell[c]) : 0.0;
      num_present[c] += is_present ? 1 : 0;
    }
  }
  return result;
}

std::vector<std::string> find_categories(std::span<const float> cells,
                                         const std::vector<std::string>& dictionary) {
  std::vector<bool> occurs(dictionary.size());
  for (const float cell : cells) occurs[static_cast<size_t>(cell)] = true;
  std::vector<std::string> categories;
  for (size_t i = 0; i < dictionary.size(); ++i) {
    if (occurs[i]) categories.push_back(dictionary[i]);
  }
  categories = distinct_values(categories);
  sort_values(categories);
  return categories;
}

/// Fits columns of a table to some of its rows.
class Fitter {
 public:
  Fitter(const Table& table, std::span<const int64_t> rows, const FitOptions& options)
      : table_(table),
        rows_(rows),
        options_(options),
        cells_(table),
        sums_(sum_columns(table.features, rows)) {}

  void fit(Column& column) const {
    const size_t column_index = cells_.index_of(column);
    const int64_t num_present = sums_.num_present[column_index];
    if (num_present == 0) {
      leave_out(column);
      return;
    }
    if (!column.source.empty() && is_constant(column_index)) {
      column.kind = ColumnKind::kIgnored;
      column.reason = "the same in all dates of the training split";
      return;
    }
    const bool some_missing = num_present < static_cast<int64_t>(rows_.size());
    if (column.kind == ColumnKind::kNumeric) {
      column.fill = fill_for(column_index, column.offset);
      column.profile = numeric_profile(column_index);
      if (column.fill && column.limits) {  // a fill stays what it is
        column.limits->low = std::min(column.limits->low, *column.fill);
        column.limits->high = std::max(column.limits->high, *column.fill);
      }
      column.has_missing_indicator = some_missing && options_.missing_indicator;
      if (options_.quantiles) {
        column.quantile_score = *options_.quantiles;
        column.quantiles = find_quantiles(filled_cells(column_index, column),
                                          max_quantiles(column.quantile_score, rows_.size()));
      }
    } else {
      const Array<float> present = present_cells(column_index);
      column.categories = find_categories(present, table_.dictionaries[column_index]);
      column.profile = category_profile(present, table_.dictionaries[column_index], column);
      column.has_missing_indicator = some_missing;
      column.embedding_size = embedding_size_for(static_cast<int64_t>(column.categories.size()));
      column.is_sign = options_.signs && column.categories.size() == 2 && !is_embedded(column);
    }
    column.profile.num_rows = static_cast<int64_t>(rows_.size());
    column.profile.missing =
        1 - static_cast<double>(num_present) / static_cast<double>(rows_.size());
  }

 private:
  /// The bins are those of some 10,000 rows.
  ColumnProfile numeric_profile(size_t column_index) const {
    constexpr size_t kMaxRows = 10'000;
    const size_t step = rows_.size() / kMaxRows + 1;
    ColumnProfile profile;
    profile.low = std::numeric_limits<float>::infinity();
    profile.high = -profile.low;
    for (const int64_t row : rows_) {
      const float cell = cells_.at(static_cast<size_t>(row), column_index);
      if (std::isnan(cell)) continue;
      profile.low = std::min(profile.low, cell);
      profile.high = std::max(profile.high, cell);
    }
    std::vector<float> sample;
    for (size_t first = 0; first < rows_.size(); first += step) {
      const auto row = static_cast<size_t>(rows_[sampled_row(first, step, rows_.size())]);
      const float cell = cells_.at(row, column_index);
      if (!std::isnan(cell)) sample.push_back(cell);
    }
    if (sample.empty()) sample = {profile.low, profile.high};
    fit_bins(std::move(sample), profile);
    return profile;
  }

  static ColumnProfile category_profile(std::span<const float> present,
                                        const std::vector<std::string>& dictionary,
                                        const Column& column) {
    const ValueIndex known(column.categories);
    std::vector<size_t> category_of_text;
    category_of_text.reserve(dictionary.size());
    for (const std::string& text : dictionary) {
      category_of_text.push_back(known.find(text).value_or(0));  // in other rows, if not known
    }
    std::vector<double> counts(column.categories.size());
    for (const float cell : present) ++counts[category_of_text[static_cast<size_t>(cell)]];
    ColumnProfile profile;
    for (const double count : counts) {
      profile.shares.push_back(static_cast<float>(count / static_cast<double>(present.size())));
    }
    return profile;
  }

  std::optional<float> fill_for(size_t column_index, double offset) const {
    switch (options_.fill) {
      case config::Imputation::kMean:
        return static_cast<float>(sums_.sums[column_index] /
                                  static_cast<double>(sums_.num_present[column_index]));
      case config::Imputation::kMedian:
        return static_cast<float>(find_median(present_cells(column_index)));
      case config::Imputation::kConstant:
        return static_cast<float>(options_.fill_value - offset);
      case config::Imputation::kError:
        break;
    }
    return std::nullopt;
  }

  /// Whether all cells that are there are equal.
  bool is_constant(size_t column_index) const {
    const auto at = [&](int64_t row) { return cells_.at(static_cast<size_t>(row), column_index); };
    const auto first =
        std::find_if(rows_.begin(), rows_.end(), [&](int64_t row) { return !std::isnan(at(row)); });
    return std::none_of(first, rows_.end(),
                        [&](int64_t row) { return !std::isnan(at(row)) && at(row) != at(*first); });
  }

  int64_t embedding_size_for(int64_t num_categories) const {
    if (num_categories <= options_.embed_above) return 0;
    return options_.embedding_size > 0 ? options_.embedding_size
                                       : default_embedding_size(num_categories);
  }

  Array<float> present_cells(size_t column_index) const {
    Array<float> present;
    present.reserve(static_cast<size_t>(sums_.num_present[column_index]));
    for (const int64_t row : rows_) {
      const float cell = cells_.at(static_cast<size_t>(row), column_index);
      if (!std::isnan(cell)) present.push_back(cell);
    }
    return present;
  }

  /// Without the missing ones that have no fill: they are an error when they are encoded.
  Array<float> filled_cells(size_t column_index, const Column& column) const {
    Array<float> cells = present_cells(column_index);
    if (column.fill) cells.resize(rows_.size(), *column.fill);
    return cells;
  }

  void leave_out(Column& column) const {
    if (column.is_declared) {
      throw column_error(table_.file, column,
                         "expected at least one value in the training split, got none; fill it in "
                         "or drop the column with data.ignore");
    }
    column.kind = ColumnKind::kIgnored;
    column.reason = "all cells of the training split are missing";
  }

  const Table& table_;
  std::span<const int64_t> rows_;
  const FitOptions& options_;
  Cells cells_;
  Sums sums_;
};

}  // namespace

std::vector<Column> fit_columns(const Table& table, std::span<const int64_t> train_rows,
                                const FitOptions& options) {
  const Fitter fitter(table, train_rows, options);
  std::vector<Column> columns = table.columns;
  parallel_for(
      columns.size(),
      [&](size_t i) {
        if (is_feature(columns[i])) fitter.fit(columns[i]);
      },
      "fitting the columns");
  if (std::none_of(columns.begin(), columns.end(), is_feature)) {
    std::vector<std::string> reasons;
    reasons.reserve(columns.size());
    for (const Column& column : columns) {
      reasons.push_back(fmt::format("{}: {}", in_quotes(column.name), column.reason));
    }
    throw data_error(
        table.file,
        fmt::format(
            "no feature columns left ({}); list features in data.numeric or data.categorical",
            joined(reasons)));
  }
  return columns;
}

}  // namespace trainer::data
