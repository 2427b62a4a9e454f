// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/columns.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "trainer/core/text.h"

#include "data/file_bytes.h"

namespace trainer::data {
namespace {

/// The cells of a table, by column.
class Cells {
 public:
  explicit Cells(const Table& table)
      : values_(std::get<std::vector<float>>(table.features.values)),
        num_columns_(static_cast<size_t>(table.features.num_columns)) {
    for (size_t i = 0; i < table.feature_names.size(); ++i) places_[table.feature_names[i]] = i;
  }

  size_t place_of(const Column& column) const { return places_.at(column.name); }
  float at(size_t row, size_t place) const { return values_[row * num_columns_ + place]; }

 private:
  const std::vector<float>& values_;
  size_t num_columns_;
  std::unordered_map<std::string_view, size_t> places_;
};

Error column_error(const std::string& place, const Column& column, const std::string& problem) {
  return data_error(place, fmt::format("column {}: {}", in_quotes(column.name), problem));
}

std::string place_of_row(const Table& table, size_t row) {
  return fmt::format("{}:{}", table.file, table.lines[row]);
}

// ---- fitting ----

double median_of(std::vector<float> values) {
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
Sums sums_of(const Matrix& cells, std::span<const int64_t> rows) {
  const auto width = static_cast<size_t>(cells.num_columns);
  const float* values = std::get<std::vector<float>>(cells.values).data();
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

/// Numbers by value, then all by bytes.
void sort_categories(std::vector<std::string>& categories) {
  std::sort(categories.begin(), categories.end());
  const bool all_numbers =
      std::all_of(categories.begin(), categories.end(),
                  [](const std::string& text) { return parse_double(text).has_value(); });
  if (!all_numbers) return;
  std::stable_sort(categories.begin(), categories.end(),
                   [](const std::string& a, const std::string& b) {
                     return *parse_double(a) < *parse_double(b);
                   });
}

std::vector<std::string> categories_of(const std::vector<float>& cells,
                                       const std::vector<std::string>& words) {
  std::vector<bool> occurs(words.size());
  for (const float cell : cells) occurs[static_cast<size_t>(cell)] = true;
  std::vector<std::string> categories;
  for (size_t i = 0; i < words.size(); ++i) {
    if (occurs[i]) categories.push_back(words[i]);
  }
  sort_categories(categories);
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
        sums_(sums_of(table.features, rows)) {}

  void fit(Column& column) const {
    const size_t place = cells_.place_of(column);
    const int64_t num_present = sums_.num_present[place];
    if (num_present == 0) {
      leave_out(column);
      return;
    }
    const bool some_missing = num_present < static_cast<int64_t>(rows_.size());
    if (column.kind == ColumnKind::kNumeric) {
      column.fill = fill_for(place);
      column.marks_missing = some_missing && options_.missing_indicator;
    } else {
      column.categories = categories_of(present_cells(place), table_.words[place]);
      column.marks_missing = some_missing;
    }
  }

 private:
  std::optional<float> fill_for(size_t place) const {
    switch (options_.fill) {
      case config::Fill::kMean:
        return static_cast<float>(sums_.sums[place] /
                                  static_cast<double>(sums_.num_present[place]));
      case config::Fill::kMedian:
        return static_cast<float>(median_of(present_cells(place)));
      case config::Fill::kConstant:
        return static_cast<float>(options_.fill_value);
      case config::Fill::kError:
        break;
    }
    return std::nullopt;
  }

  std::vector<float> present_cells(size_t place) const {
    std::vector<float> present;
    present.reserve(static_cast<size_t>(sums_.num_present[place]));
    for (const int64_t row : rows_) {
      const float cell = cells_.at(static_cast<size_t>(row), place);
      if (!std::isnan(cell)) present.push_back(cell);
    }
    return present;
  }

  void leave_out(Column& column) const {
    if (column.is_declared) {
      throw column_error(table_.file, column,
                         "expected a value in some row of the training part, got none; fill it in "
                         "or leave the column out with data.ignore");
    }
    column.kind = ColumnKind::kLeftOut;
    column.reason = "every cell of the training part is missing";
  }

  const Table& table_;
  std::span<const int64_t> rows_;
  const FitOptions& options_;
  Cells cells_;
  Sums sums_;
};

bool is_feature(const Column& column) {
  return column.kind == ColumnKind::kNumeric || column.kind == ColumnKind::kCategorical;
}

// ---- encoding ----

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
        place_(cells.place_of(column)) {
    if (column.kind == ColumnKind::kCategorical) number_words();
  }

  /// `features` are those of the first row of `rows`, from the first one of the column on.
  void encode(RowRange rows, float* features, size_t width) {
    if (column_.kind == ColumnKind::kNumeric) {
      encode_numbers(rows, features, width);
    } else {
      encode_categories(rows, features, width);
    }
  }

  int64_t num_unknown() const { return num_unknown_; }

  float number(size_t row) const {
    const float cell = cells_.at(row, place_);
    if (!std::isnan(cell)) return cell;
    if (column_.fill) return *column_.fill;
    throw column_error(place_of_row(table_, row), column_,
                       "expected a number, got a missing value; fill it in or choose a data.fill");
  }

 private:
  static constexpr size_t kUnknown = static_cast<size_t>(-1);

  void number_words() {
    std::unordered_map<std::string_view, size_t> known;
    for (size_t i = 0; i < column_.categories.size(); ++i) known[column_.categories[i]] = i;
    for (const std::string& word : table_.words[place_]) {
      const auto found = known.find(word);
      features_of_words_.push_back(found == known.end() ? kUnknown : found->second);
    }
  }

  void encode_numbers(RowRange rows, float* features, size_t width) const {
    for (size_t row = rows.begin; row < rows.end; ++row, features += width) {
      features[0] = number(row);
      if (column_.marks_missing) features[1] = std::isnan(cells_.at(row, place_)) ? 1.0F : 0.0F;
    }
  }

  void encode_categories(RowRange rows, float* features, size_t width) {
    const size_t missing = column_.marks_missing ? column_.categories.size() : kUnknown;
    for (size_t row = rows.begin; row < rows.end; ++row, features += width) {
      const float cell = cells_.at(row, place_);
      const size_t feature =
          std::isnan(cell) ? missing : features_of_words_[static_cast<size_t>(cell)];
      if (feature != kUnknown) {
        features[feature] = 1;
        continue;
      }
      if (unknown_ == config::UnknownCategory::kError) fail_for_category(row, cell);
      ++num_unknown_;
    }
  }

  [[noreturn]] void fail_for_category(size_t row, float cell) const {
    const std::string got = std::isnan(cell)
                                ? "a missing value"
                                : in_quotes(table_.words[place_][static_cast<size_t>(cell)]);
    throw column_error(place_of_row(table_, row), column_,
                       fmt::format("expected a category that the training part has, got {}; "
                                   "correct it, or train with data.unknown_category: unknown",
                                   got));
  }

  const Table& table_;
  const Cells& cells_;
  const Column& column_;
  config::UnknownCategory unknown_;
  size_t place_;
  std::vector<size_t> features_of_words_;  // [words] within the column
  int64_t num_unknown_ = 0;
};

/// Whether each cell is one feature already.
bool is_plain(std::span<const Column> columns, const Table& table) {
  std::vector<std::string_view> names;
  for (const Column& column : columns) {
    if (!is_feature(column)) continue;
    if (column.kind != ColumnKind::kNumeric || column.marks_missing) return false;
    names.push_back(column.name);
  }
  return std::equal(names.begin(), names.end(), table.feature_names.begin(),
                    table.feature_names.end());
}

// The features may be by far the largest thing in memory: not twice.
Matrix fill_in_place(std::span<const Column> columns, Table& table) {
  auto& values = std::get<std::vector<float>>(table.features.values);
  const Cells cells(table);
  for (const Column& column : columns) {
    if (!is_feature(column)) continue;
    const size_t place = cells.place_of(column);
    if (table.num_missing[place] == 0) continue;
    const ColumnEncoder encoder(table, cells, column, config::UnknownCategory::kError);
    const auto width = static_cast<size_t>(table.features.num_columns);
    size_t row = 0;
    for (size_t i = place; i < values.size(); i += width, ++row) values[i] = encoder.number(row);
  }
  return std::move(table.features);
}

}  // namespace

int64_t num_features(const Column& column) {
  if (!is_feature(column)) return 0;
  const auto of_value = column.kind == ColumnKind::kNumeric
                            ? int64_t{1}
                            : static_cast<int64_t>(column.categories.size());
  return of_value + (column.marks_missing ? 1 : 0);
}

std::vector<std::string> feature_names(std::span<const Column> columns) {
  std::vector<std::string> names;
  for (const Column& column : columns) {
    if (column.kind == ColumnKind::kNumeric) names.push_back(column.name);
    for (const std::string& category : column.categories) {
      names.push_back(fmt::format("{}={}", column.name, category));
    }
    if (column.marks_missing) names.push_back(column.name + " is missing");
  }
  return names;
}

std::vector<Column> fit_columns(const Table& table, std::span<const int64_t> train_rows,
                                const FitOptions& options) {
  const Fitter fitter(table, train_rows, options);
  std::vector<Column> columns = table.columns;
  bool has_features = false;
  for (Column& column : columns) {
    if (is_feature(column)) fitter.fit(column);
    has_features = has_features || is_feature(column);
  }
  if (!has_features) {
    std::vector<std::string> reasons;
    reasons.reserve(columns.size());
    for (const Column& column : columns) {
      reasons.push_back(fmt::format("{}: {}", in_quotes(column.name), column.reason));
    }
    throw data_error(table.file, fmt::format("no column is left as a feature ({}); name features "
                                             "in data.numeric or data.categorical",
                                             joined(reasons)));
  }
  return columns;
}

Encoded encode(std::span<const Column> columns, config::UnknownCategory unknown, Table& table) {
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
  for (size_t i = 0; i < columns.size(); ++i) {
    if (!is_feature(columns[i])) continue;
    steps.push_back({ColumnEncoder(table, cells, columns[i], unknown), i, width});
    width += static_cast<size_t>(num_features(columns[i]));
  }
  const auto num_rows = static_cast<size_t>(table.features.num_rows);
  std::vector<float> features(num_rows * width);
  constexpr size_t kBlock = 64;  // rows whose cells and features stay in a cache
  for (size_t begin = 0; begin < num_rows; begin += kBlock) {
    const RowRange rows = {begin, std::min(num_rows, begin + kBlock)};
    for (Step& step : steps) {
      step.encoder.encode(rows, features.data() + begin * width + step.first_feature, width);
    }
  }
  for (const Step& step : steps) encoded.num_unknown[step.column] = step.encoder.num_unknown();
  encoded.features = {table.features.num_rows, static_cast<int64_t>(width), std::move(features)};
  table.features.values = std::vector<float>();
  return encoded;
}

}  // namespace trainer::data
