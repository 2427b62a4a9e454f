// SPDX-License-Identifier: Apache-2.0
#include "table/source/offset.h"

#include <algorithm>
#include <limits>

#include "table/schema/lower_median.h"

namespace trainer::data {
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
