// SPDX-License-Identifier: Apache-2.0
#include "table/schema/target_copies.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include <fmt/format.h>

#include "trainer/base/text/format.h"

namespace trainer::data {
namespace {

constexpr size_t kMinRows = 20;

// A column that lacks many cells tells little.
bool are_enough(size_t num_present, size_t num_rows) { return 10 * num_present >= 9 * num_rows; }

/// One column of cells; NaN is missing.
struct Numbers {
  std::span<const float> values;
  size_t first = 0;
  size_t width = 1;

  size_t size() const { return values.size() / width; }
  float at(size_t row) const { return values[row * width + first]; }
};

// Ends at the first row that differs, which nearly always is among the first ones.
bool has_value_for_each_class(const Numbers& cells, std::span<const int64_t> classes,
                              size_t num_classes) {
  constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> values(num_classes, kNone);
  size_t num_present = 0;
  for (size_t row = 0; row < classes.size(); ++row) {
    const float cell = cells.at(row);
    if (std::isnan(cell)) continue;
    ++num_present;
    float& value = values[static_cast<size_t>(classes[row])];
    if (std::isnan(value)) value = cell;
    if (value != cell) return false;
  }
  std::erase_if(values, [](float value) { return std::isnan(value); });
  std::sort(values.begin(), values.end());
  const bool are_different = std::adjacent_find(values.begin(), values.end()) == values.end();
  return are_different && values.size() > 1 && are_enough(num_present, classes.size());
}

// By the line through the rows of the smallest and the largest cell.
bool is_linear_copy(const Numbers& cells, const Numbers& targets, size_t num_rows) {
  constexpr double kTolerance = 1e-3;
  size_t low = num_rows;
  size_t high = num_rows;
  size_t num_present = 0;
  for (size_t row = 0; row < num_rows; ++row) {
    if (std::isnan(cells.at(row))) continue;
    ++num_present;
    if (low == num_rows || cells.at(row) < cells.at(low)) low = row;
    if (high == num_rows || cells.at(row) > cells.at(high)) high = row;
  }
  if (num_present < 3 || !are_enough(num_present, num_rows)) return false;
  const double width = static_cast<double>(cells.at(high)) - cells.at(low);
  const double height = static_cast<double>(targets.at(high)) - targets.at(low);
  if (width == 0 || height == 0) return false;
  for (size_t row = 0; row < num_rows; ++row) {
    if (std::isnan(cells.at(row))) continue;
    const double fraction = (static_cast<double>(cells.at(row)) - cells.at(low)) / width;
    const double expected = targets.at(low) + fraction * height;
    if (!(std::abs(targets.at(row) - expected) <= kTolerance * std::abs(height))) return false;
  }
  return true;
}

bool is_copy(const Numbers& cells, bool are_numbers, const Target& target, size_t num_rows) {
  if (target.task == config::Task::kClassification) {
    return has_value_for_each_class(cells, target.classes, target.labels.size());
  }
  const size_t num_targets = target.values.size() / num_rows;
  for (size_t i = 0; are_numbers && i < num_targets; ++i) {
    const Numbers targets{.values = target.values, .first = i, .width = num_targets};
    // Most columns show in their first rows that they are none.
    if (is_linear_copy(cells, targets, kMinRows) && is_linear_copy(cells, targets, num_rows)) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::vector<std::string> find_target_copies(const Table& table, const Target& target) {
  const auto num_rows = static_cast<size_t>(table.features.num_rows);
  if (num_rows < kMinRows) return {};
  const auto width = static_cast<size_t>(table.features.num_columns);
  const auto& values = std::get<Array<float>>(table.features.values);
  std::vector<std::string> names;
  for (size_t column_index = 0, i = 0; i < table.columns.size() && column_index < width; ++i) {
    const Column& column = table.columns[i];
    if (table.feature_names[column_index] != column.name) continue;  // no cells
    const Numbers cells{.values = values, .first = column_index++, .width = width};
    if (is_feature(column) &&
        is_copy(cells, column.kind == ColumnKind::kNumeric, target, num_rows)) {
      names.push_back(in_quotes(column.name));
    }
  }
  if (names.empty()) return {};
  return {
      fmt::format("copies of the target (leakage): {}; use data.ignore to drop columns that are "
                  "not known before the target",
                  joined_some(names))};
}

}  // namespace trainer::data
