// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/scaling.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace trainer::data {
namespace {

struct Range {
  double minimum = std::numeric_limits<double>::infinity();
  double maximum = -std::numeric_limits<double>::infinity();
  bool is_constant() const { return minimum == maximum; }
};

/// Calls visit(column, value) for every element, row by row as they lie in memory.
template <class Visit>
void for_each_value(const Matrix& features, Visit visit) {
  const auto num_columns = static_cast<size_t>(features.num_columns);
  std::visit(
      [&](const auto& values) {
        for (size_t begin = 0; begin < values.size(); begin += num_columns) {
          for (size_t column = 0; column < num_columns; ++column) {
            visit(column, static_cast<double>(values[begin + column]));
          }
        }
      },
      features.values);
}

std::vector<Range> column_ranges(const Matrix& features) {
  std::vector<Range> ranges(static_cast<size_t>(features.num_columns));
  for_each_value(features, [&](size_t column, double value) {
    Range& range = ranges[column];
    range.minimum = std::min(range.minimum, value);
    range.maximum = std::max(range.maximum, value);
  });
  return ranges;
}

std::vector<double> column_means(const Matrix& features) {
  std::vector<double> means(static_cast<size_t>(features.num_columns), 0.0);
  for_each_value(features, [&](size_t column, double value) { means[column] += value; });
  for (double& mean : means) mean /= static_cast<double>(features.num_rows);
  return means;
}

std::vector<double> column_deviations(const Matrix& features, const std::vector<double>& means) {
  std::vector<double> deviations(means.size(), 0.0);
  for_each_value(features, [&](size_t column, double value) {
    const double distance = value - means[column];
    deviations[column] += distance * distance;
  });
  for (double& deviation : deviations) {
    deviation = std::sqrt(deviation / static_cast<double>(features.num_rows));
  }
  return deviations;
}

void set_column(Scaling& scaling, size_t column, double shift, double spread) {
  const auto scale = static_cast<float>(1 / spread);
  scaling.shift[column] = static_cast<float>(shift);
  // A spread below what a float can invert counts as none.
  scaling.scale[column] = std::isfinite(scale) ? scale : 1.0f;
}

}  // namespace

Scaling fit_scaling(const Matrix& features, config::ScalingMethod method) {
  const auto num_columns = static_cast<size_t>(features.num_columns);
  Scaling scaling{std::vector<float>(num_columns, 0.0f), std::vector<float>(num_columns, 1.0f)};
  if (method == config::ScalingMethod::kNone || features.num_rows == 0) return scaling;

  const std::vector<Range> ranges = column_ranges(features);
  std::vector<double> means, deviations;
  if (method == config::ScalingMethod::kStandard) {
    means = column_means(features);
    deviations = column_deviations(features, means);
  }
  for (size_t column = 0; column < num_columns; ++column) {
    const Range& range = ranges[column];
    if (range.is_constant()) {  // asked of the range, which rounding cannot blur
      set_column(scaling, column, range.minimum, 1);
    } else if (method == config::ScalingMethod::kStandard) {
      set_column(scaling, column, means[column], deviations[column]);
    } else {
      set_column(scaling, column, range.minimum, range.maximum - range.minimum);
    }
  }
  return scaling;
}

}  // namespace trainer::data
