// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trainer/table/table.h"

#include "table/schema/target.h"

namespace trainer::config {
struct DataConfig;
}

/// Cells that are so far from all others of their column that they rule its mean and deviation.

namespace trainer::data {

struct Outliers {
  std::vector<size_t> indices;  // ascending
  double median = 0;            // of all values
  double deviation = 0;         // what the standard deviation would be by the median distance
  double low = 0;               // of the other values
  double high = 0;
};

/// Those of a column, or nothing. Values are outliers when they are a twentieth of all at most,
/// more than 100 deviations from the median, and 50 times as far as every other one: long tails, as
/// prices have, go on without such a gap. Codes such as -999 may be half of all, and nearer. NaN is
/// no value.
std::optional<Outliers> find_outliers(std::span<const float> values);

/// Sets the limits of the numeric columns of `table` by the rows `train_rows` (the range of all but
/// outliers, and as much again on each side) and limits their cells. Returns a line for each column
/// that had cells beyond.
std::vector<std::string> limit_columns(Table& table, std::span<const int64_t> train_rows);

/// A line for each column of numbers, and each target of a regression, with outliers: the first
/// one's line, how far it is, and what to do.
std::vector<std::string> describe_outliers(const Table& table, const Target& target,
                                           const config::DataConfig& data);

/// The median of at least one value; of an even number the lower one of the middle two, so that it
/// is always one of them. Reorders `values`.
inline double lower_median(std::span<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace trainer::data
