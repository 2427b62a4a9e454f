// SPDX-License-Identifier: Apache-2.0
#include "trainer/table/schema/encode.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <mutex>
#include <numeric>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "trainer/base/parallel/parallel.h"
#include "trainer/base/text/format.h"
#include "trainer/base/time/timeline.h"
#include "trainer/table/schema/quantiles.h"
#include "trainer/table/schema/scaling.h"
#include "trainer/table/schema/value_index.h"

#include "table/error.h"
#include "table/schema/fit_schema.h"
#include "table/schema/target.h"
#include "table/split/split_dataset.h"

namespace trainer::data {
namespace {

struct RowRange {
  size_t begin = 0;
  size_t end = 0;
};

using BadRows = std::vector<std::pair<int64_t, std::string>>;

/// What was found in cells of one column.
struct Found {
  BadRows* bad_rows = nullptr;  // errors are added there, with the number of the row, or thrown
  int64_t num_unknown = 0;
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
  void encode(RowRange rows, float* features, size_t width, Found& found) const {
    if (column_.kind == ColumnKind::kNumeric) {
      encode_numbers(rows, features, width, found);
    } else if (is_embedded(column_)) {
      encode_for_embedding(rows, features, width, found);
    } else if (column_.is_sign) {
      encode_sign(rows, features, width, found);
    } else {
      encode_categories(rows, features, width, found);
    }
  }

  float number(size_t row, Found& found) const {
    const float value = filled(row, found);
    return quantile_scale_ ? (*quantile_scale_)(value) : value;
  }

 private:
  static constexpr size_t kUnknown = static_cast<size_t>(-1);

  float filled(size_t row, Found& found) const {
    const float cell = cells_.at(row, column_index_);
    if (!std::isnan(cell)) return column_.limits ? limited(cell, *column_.limits) : cell;
    if (column_.fill) return *column_.fill;
    fail(found, row, "expected a number, got a missing value; fill it in or choose a data.fill");
    return cell;
  }

  void number_words() {
    const ValueIndex known(column_.categories);
    category_of_text_.reserve(table_.dictionaries[column_index_].size());
    for (const std::string& text : table_.dictionaries[column_index_]) {
      category_of_text_.push_back(known.find(text).value_or(kUnknown));
    }
  }

  void encode_numbers(RowRange rows, float* features, size_t width, Found& found) const {
    for (size_t row = rows.begin; row < rows.end; ++row, features += width) {
      features[0] = number(row, found);
      if (column_.has_missing_indicator)
        features[1] = std::isnan(cells_.at(row, column_index_)) ? 1.0F : 0.0F;
    }
  }

  void encode_categories(RowRange rows, float* features, size_t width, Found& found) const {
    for (size_t row = rows.begin; row < rows.end; ++row, features += width) {
      const size_t category = category_at(row, found);
      if (category != kUnknown) features[category] = 1;
    }
  }

  void encode_sign(RowRange rows, float* features, size_t width, Found& found) const {
    for (size_t row = rows.begin; row < rows.end; ++row, features += width) {
      const size_t category = category_at(row, found);
      features[0] = category == 0 ? -1.0F : (category == 1 ? 1.0F : 0.0F);
    }
  }

  void encode_for_embedding(RowRange rows, float* features, size_t width, Found& found) const {
    for (size_t row = rows.begin; row < rows.end; ++row, features += width) {
      features[0] =
          static_cast<float>(std::min(category_at(row, found), column_.categories.size()));
    }
  }

  /// What is missing has the number behind the categories, if that is to be learned from.
  size_t category_at(size_t row, Found& found) const {
    const float cell = cells_.at(row, column_index_);
    const size_t missing = column_.has_missing_indicator ? column_.categories.size() : kUnknown;
    const size_t category =
        std::isnan(cell) ? missing : category_of_text_[static_cast<size_t>(cell)];
    if (category != kUnknown) return category;
    if (unknown_ == config::UnknownCategory::kError) {
      fail_for_category(found, row, cell);
    } else {
      ++found.num_unknown;
    }
    return kUnknown;
  }

  void fail(Found& found, size_t row, const std::string& problem) const {
    const std::string location = row_location(table_, row);
    if (found.bad_rows == nullptr) throw column_error(location, column_, problem);
    const std::string message = column_error(location, column_, problem).what();
    found.bad_rows->emplace_back(static_cast<int64_t>(row),
                                 message.substr(location.size() + std::string_view(": ").size()));
  }

  void fail_for_category(Found& found, size_t row, float cell) const {
    const std::string got =
        std::isnan(cell) ? "a missing value"
                         : in_quotes(table_.dictionaries[column_index_][static_cast<size_t>(cell)]);
    fail(found, row,
         fmt::format("expected a category of the training split, got {}; correct it, or train "
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

/// A column and where its features begin in a row.
struct Step {
  ColumnEncoder encoder;
  size_t column;
  size_t first_feature;
};

std::vector<Step> make_steps(std::span<const Column> columns, config::UnknownCategory unknown,
                             const Table& table, const Cells& cells, bool is_in_place) {
  std::vector<Step> steps;
  const std::vector<int64_t> first = first_features(columns);
  for (size_t i = 0; i < columns.size(); ++i) {
    const Column& column = columns[i];
    if (!is_feature(column)) continue;
    const bool changes = table.num_missing[cells.index_of(column)] > 0 ||
                         !column.quantiles.empty() || column.limits.has_value();
    if (is_in_place && !changes) continue;
    steps.push_back(
        {ColumnEncoder(table, cells, column, unknown), i, static_cast<size_t>(first[i])});
  }
  return steps;
}

void keep_first_of_each_row(BadRows& bad_rows) {
  std::stable_sort(bad_rows.begin(), bad_rows.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  const auto is_same_row = [](const auto& a, const auto& b) { return a.first == b.first; };
  bad_rows.erase(std::unique(bad_rows.begin(), bad_rows.end(), is_same_row), bad_rows.end());
}

}  // namespace

Encoded encode(std::span<const Column> columns, config::UnknownCategory unknown, Table& table,
               OnBadCell on_bad_cell) {
  const TimedStage timed(Stage::kEncode);
  auto& values = std::get<Array<float>>(table.features.values);
  const auto num_rows = static_cast<size_t>(table.features.num_rows);
  const auto width = static_cast<size_t>(std::accumulate(
      columns.begin(), columns.end(), int64_t{0},
      [](int64_t sum, const Column& column) { return sum + num_features(column); }));
  // The features may be by far the largest thing in memory: not twice where it can be avoided.
  const bool is_in_place = is_plain(columns, table);
  Array<float> features;
  if (!is_in_place) features.resize_for_overwrite(num_rows * width);
  float* const begin_of_features = is_in_place ? values.data() : features.data();

  const Cells cells(table);
  const std::vector<Step> steps = make_steps(columns, unknown, table, cells, is_in_place);
  Encoded encoded;
  encoded.num_unknown.resize(columns.size());
  std::mutex mutex;  // of `encoded`
  const auto encode_rows = [&](size_t begin, size_t end) {
    BadRows bad_rows;
    std::vector<Found> found(
        steps.size(), {.bad_rows = on_bad_cell == OnBadCell::kCollect ? &bad_rows : nullptr});
    constexpr size_t kBlock = 64;  // rows whose cells and features stay in a cache
    for (RowRange rows{begin, begin}; rows.begin < end; rows.begin = rows.end) {
      rows.end = std::min(end, rows.begin + kBlock);
      float* const first = begin_of_features + rows.begin * width;
      if (!is_in_place) std::fill(first, begin_of_features + rows.end * width, 0.0F);
      for (size_t i = 0; i < steps.size(); ++i) {
        steps[i].encoder.encode(rows, first + steps[i].first_feature, width, found[i]);
      }
    }
    const std::lock_guard lock(mutex);
    for (size_t i = 0; i < steps.size(); ++i) {
      encoded.num_unknown[steps[i].column] += found[i].num_unknown;
    }
    std::move(bad_rows.begin(), bad_rows.end(), std::back_inserter(encoded.bad_rows));
  };
  constexpr size_t kRowsAtOnce = 8192;
  if (!steps.empty()) {
    parallel_for_ranges(num_rows, kRowsAtOnce, encode_rows, "encoding the table");
  }
  keep_first_of_each_row(encoded.bad_rows);
  encoded.features = {.num_rows = table.features.num_rows,
                      .num_columns = static_cast<int64_t>(width),
                      .values = is_in_place ? std::move(values) : std::move(features)};
  table.features.values = Array<float>();
  return encoded;
}

namespace {

constexpr float kMark = 0.5F;  // a feature that is 1, not 0, is above it

/// The index of the category, their number for what is missing, or one more for what is unknown.
size_t category_of(const Column& column, std::span<const float> features) {
  const size_t num_categories = column.categories.size();
  if (!is_embedded(column) && !column.is_sign) {
    const auto mark = std::find_if(features.begin(), features.end(),
                                   [](float feature) { return feature > kMark; });
    return mark == features.end() ? num_categories + 1
                                  : static_cast<size_t>(mark - features.begin());
  }
  // Here what is missing and what is unknown are the same.
  const size_t none = num_categories + (column.has_missing_indicator ? 0 : 1);
  if (column.is_sign) return features[0] < -kMark ? 0 : features[0] > kMark ? 1 : none;
  const auto index = static_cast<size_t>(features[0]);
  return index < num_categories ? index : none;
}

}  // namespace

float decoded_number(const Column& column, float feature) {
  if (column.quantiles.empty()) return feature;
  return QuantileScale(column.quantiles, column.quantile_score).value_of(feature);
}

std::string decoded_text(const Column& column, std::span<const float> features) {
  if (column.kind == ColumnKind::kNumeric) {
    if (column.has_missing_indicator && features[1] > kMark) return "missing";
    return text_in_file_units(column, decoded_number(column, features[0]));
  }
  const size_t category = category_of(column, features);
  if (category < column.categories.size()) return column.categories[category];
  return category == column.categories.size() ? "missing" : "unknown";
}

namespace {

Matrix take_features(Table& table, const Schema& schema, std::vector<int64_t>& num_unknown) {
  if (schema.columns.empty()) return std::move(table.features);
  Encoded encoded = encode(schema.columns, schema.unknown_category, table);
  num_unknown.resize(schema.columns.size());
  for (size_t i = 0; i < num_unknown.size(); ++i) num_unknown[i] += encoded.num_unknown[i];
  return std::move(encoded.features);
}

}  // namespace

Dataset apply_schema(Table&& table, const Schema& schema, const std::string& origin,
                     std::vector<int64_t>& num_unknown) {
  Dataset dataset;
  dataset.features = take_features(table, schema, num_unknown);
  if (schema.task == config::Task::kClassification) {
    dataset.classes = encode_labels(table, schema.labels, origin);
  } else {
    dataset.targets = target_numbers(table);
    dataset.values = without_offsets(dataset.targets, schema.target_scaling.offset);
    scale(schema.target_scaling, dataset.values);
  }
  dataset.source_lines = source_lines(std::move(table.lines), dataset.size());
  dataset.weights = std::move(table.weights);
  return dataset;
}

}  // namespace trainer::data
