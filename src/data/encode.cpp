// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/encode.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>

#include <fmt/format.h>

#include "trainer/core/format.h"
#include "trainer/data/quantiles.h"

#include "data/cells.h"
#include "data/error.h"
#include "data/target.h"
#include "data/value_index.h"

namespace trainer::data {
namespace {

struct RowRange {
  size_t begin = 0;
  size_t end = 0;
};

/// Writes the features of one column.
class ColumnEncoder {
 public:
  ColumnEncoder(const Table& table, const Cells& cells, const Column& column,
                config::UnknownCategory unknown)
      : table_(table),
        cells_(cells),
        column_(column),
        unknown_(unknown),
        column_index_(cells.index_of(column)) {
    if (column.kind == ColumnKind::kCategorical) number_words();
    if (!column.quantiles.empty()) quantile_scale_.emplace(column.quantiles, column.quantile_score);
  }

  /// `features` are those of the first row of `rows`, from the first one of the column on.
  void encode(RowRange rows, float* features, size_t width) {
    if (column_.kind == ColumnKind::kNumeric) {
      encode_numbers(rows, features, width);
    } else if (is_embedded(column_)) {
      encode_for_embedding(rows, features, width);
    } else if (column_.is_sign) {
      encode_sign(rows, features, width);
    } else {
      encode_categories(rows, features, width);
    }
  }

  int64_t num_unknown() const { return num_unknown_; }

  /// Errors are added there from now on, with the number of the row.
  void collect_into(std::vector<std::pair<int64_t, std::string>>& bad_rows) {
    bad_rows_ = &bad_rows;
  }

  float number(size_t row) const {
    const float value = filled(row);
    return quantile_scale_ ? (*quantile_scale_)(value) : value;
  }

 private:
  static constexpr size_t kUnknown = static_cast<size_t>(-1);

  float filled(size_t row) const {
    const float cell = cells_.at(row, column_index_);
    if (!std::isnan(cell)) return column_.limits ? limited(cell, *column_.limits) : cell;
    if (column_.fill) return *column_.fill;
    fail(row, "expected a number, got a missing value; fill it in or choose a data.fill");
    return cell;
  }

  void number_words() {
    const ValueIndex known(column_.categories);
    category_of_text_.reserve(table_.dictionaries[column_index_].size());
    for (const std::string& text : table_.dictionaries[column_index_]) {
      category_of_text_.push_back(known.find(text).value_or(kUnknown));
    }
  }

  void encode_numbers(RowRange rows, float* features, size_t width) const {
    for (size_t row = rows.begin; row < rows.end; ++row, features += width) {
      features[0] = number(row);
      if (column_.has_missing_indicator)
        features[1] = std::isnan(cells_.at(row, column_index_)) ? 1.0F : 0.0F;
    }
  }

  void encode_categories(RowRange rows, float* features, size_t width) {
    for (size_t row = rows.begin; row < rows.end; ++row, features += width) {
      const size_t category = category_at(row);
      if (category != kUnknown) features[category] = 1;
    }
  }

  void encode_sign(RowRange rows, float* features, size_t width) {
    for (size_t row = rows.begin; row < rows.end; ++row, features += width) {
      const size_t category = category_at(row);
      features[0] = category == 0 ? -1.0F : (category == 1 ? 1.0F : 0.0F);
    }
  }

  void encode_for_embedding(RowRange rows, float* features, size_t width) {
    for (size_t row = rows.begin; row < rows.end; ++row, features += width) {
      features[0] = static_cast<float>(std::min(category_at(row), column_.categories.size()));
    }
  }

  /// What is missing has the number behind the categories, if that is to be learned from.
  size_t category_at(size_t row) {
    const float cell = cells_.at(row, column_index_);
    const size_t missing = column_.has_missing_indicator ? column_.categories.size() : kUnknown;
    const size_t category =
        std::isnan(cell) ? missing : category_of_text_[static_cast<size_t>(cell)];
    if (category != kUnknown) return category;
    if (unknown_ == config::UnknownCategory::kError) {
      fail_for_category(row, cell);
    } else {
      ++num_unknown_;
    }
    return kUnknown;
  }

  void fail(size_t row, const std::string& problem) const {
    const std::string location = row_location(table_, row);
    if (bad_rows_ == nullptr) throw column_error(location, column_, problem);
    const std::string message = column_error(location, column_, problem).what();
    bad_rows_->emplace_back(static_cast<int64_t>(row),
                            message.substr(location.size() + std::string_view(": ").size()));
  }

  void fail_for_category(size_t row, float cell) const {
    const std::string got =
        std::isnan(cell) ? "a missing value"
                         : in_quotes(table_.dictionaries[column_index_][static_cast<size_t>(cell)]);
    fail(row, fmt::format("expected a category of the training split, got {}; correct it, or train "
                          "with data.unknown_category: unknown",
                          got));
  }

  const Table& table_;
  const Cells& cells_;
  const Column& column_;
  std::optional<QuantileScale> quantile_scale_;
  config::UnknownCategory unknown_;
  size_t column_index_;
  std::vector<size_t> category_of_text_;  // [dictionary]
  int64_t num_unknown_ = 0;
  std::vector<std::pair<int64_t, std::string>>* bad_rows_ = nullptr;
};

/// Whether each cell is one feature already.
bool is_plain(std::span<const Column> columns, const Table& table) {
  std::vector<std::string_view> names;
  for (const Column& column : columns) {
    if (!is_feature(column)) continue;
    if (column.kind != ColumnKind::kNumeric || column.has_missing_indicator) return false;
    names.push_back(column.name);
  }
  return std::equal(names.begin(), names.end(), table.feature_names.begin(),
                    table.feature_names.end());
}

// The features may be by far the largest thing in memory: not twice.
Matrix fill_in_place(std::span<const Column> columns, Table& table) {
  auto& values = std::get<Array<float>>(table.features.values);
  const Cells cells(table);
  for (const Column& column : columns) {
    if (!is_feature(column)) continue;
    const size_t column_index = cells.index_of(column);
    if (table.num_missing[column_index] == 0 && column.quantiles.empty() && !column.limits)
      continue;
    const ColumnEncoder encoder(table, cells, column, config::UnknownCategory::kError);
    const auto width = static_cast<size_t>(table.features.num_columns);
    size_t row = 0;
    for (size_t i = column_index; i < values.size(); i += width, ++row)
      values[i] = encoder.number(row);
  }
  return std::move(table.features);
}

}  // namespace

Encoded encode(std::span<const Column> columns, config::UnknownCategory unknown, Table& table,
               OnBadCell on_bad_cell) {
  Encoded encoded;
  encoded.num_unknown.resize(columns.size());
  if (is_plain(columns, table)) {
    encoded.features = fill_in_place(columns, table);
    return encoded;
  }
  const Cells cells(table);
  struct Step {
    ColumnEncoder encoder;
    size_t column;
    size_t first_feature;
  };
  std::vector<Step> steps;
  size_t width = 0;
  const std::vector<int64_t> first = first_features(columns);
  for (size_t i = 0; i < columns.size(); ++i) {
    if (!is_feature(columns[i])) continue;
    steps.push_back(
        {ColumnEncoder(table, cells, columns[i], unknown), i, static_cast<size_t>(first[i])});
    width += static_cast<size_t>(num_features(columns[i]));
  }
  if (on_bad_cell == OnBadCell::kCollect) {
    for (Step& step : steps) step.encoder.collect_into(encoded.bad_rows);
  }
  const auto num_rows = static_cast<size_t>(table.features.num_rows);
  Array<float> features(num_rows * width);
  constexpr size_t kBlock = 64;  // rows whose cells and features stay in a cache
  for (size_t begin = 0; begin < num_rows; begin += kBlock) {
    const RowRange rows = {.begin = begin, .end = std::min(num_rows, begin + kBlock)};
    for (Step& step : steps) {
      step.encoder.encode(rows, features.data() + begin * width + step.first_feature, width);
    }
  }
  for (const Step& step : steps) encoded.num_unknown[step.column] = step.encoder.num_unknown();
  std::stable_sort(encoded.bad_rows.begin(), encoded.bad_rows.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  const auto is_same_row = [](const auto& a, const auto& b) { return a.first == b.first; };
  encoded.bad_rows.erase(std::unique(encoded.bad_rows.begin(), encoded.bad_rows.end(), is_same_row),
                         encoded.bad_rows.end());
  encoded.features = {.num_rows = table.features.num_rows,
                      .num_columns = static_cast<int64_t>(width),
                      .values = std::move(features)};
  table.features.values = Array<float>();
  return encoded;
}

}  // namespace trainer::data
