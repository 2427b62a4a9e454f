// SPDX-License-Identifier: Apache-2.0
#include "trainer/table/schema/scaling.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

#include "trainer/config/data_config.h"

namespace trainer::data {
namespace {

/// What is to be known of each column, in double, whatever the elements are.
struct Columns {
  double num_rows = 0;
  std::vector<double> minima, maxima, means, deviations;
};

/// Some rows of a matrix with elements of one type.
template <class T>
struct Rows {
  const T* values;
  size_t num_columns = 0;
  std::span<const int64_t> numbers;

  const T* at(size_t i) const { return values + static_cast<size_t>(numbers[i]) * num_columns; }
};

/// Calls visit(row) for each row. The loops over the columns of a row are plain ones over arrays,
/// so that compilers make vector code of them; each column is summed in the order of the rows.
template <class T, class Visit>
void for_each_row(const Rows<T>& rows, Visit visit) {
  for (size_t i = 0; i < rows.numbers.size(); ++i) visit(rows.at(i));
}

template <class T>
void find_ranges_and_means(const Rows<T>& rows, Columns& columns) {
  const size_t num_columns = rows.num_columns;
  std::vector<T> minima(rows.at(0), rows.at(0) + num_columns);
  std::vector<T> maxima = minima;
  double* sums = columns.means.data();
  for_each_row(rows, [&](const T* row) {
    for (size_t c = 0; c < num_columns; ++c) minima[c] = std::min(minima[c], row[c]);
    for (size_t c = 0; c < num_columns; ++c) maxima[c] = std::max(maxima[c], row[c]);
    for (size_t c = 0; c < num_columns; ++c) sums[c] += static_cast<double>(row[c]);
  });
  columns.minima.assign(minima.begin(), minima.end());
  columns.maxima.assign(maxima.begin(), maxima.end());
  for (double& mean : columns.means) mean /= columns.num_rows;
}

template <class T>
void find_deviations(const Rows<T>& rows, Columns& columns) {
  const size_t num_columns = rows.num_columns;
  const double* means = columns.means.data();
  double* squares = columns.deviations.data();
  for_each_row(rows, [&](const T* row) {
    for (size_t c = 0; c < num_columns; ++c) {
      const double distance = static_cast<double>(row[c]) - means[c];
      squares[c] += distance * distance;
    }
  });
  for (double& deviation : columns.deviations) {
    deviation = std::sqrt(deviation / columns.num_rows);
  }
}

/// The value below which the part `fraction` of the sorted `values` lies, between two in
/// proportion.
template <class T>
double quantile(Array<T>& values, double fraction) {
  const double position = fraction * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::ptrdiff_t>(position);
  std::nth_element(values.begin(), values.begin() + below, values.end());
  const auto low = static_cast<double>(values[static_cast<size_t>(below)]);
  const double weight = position - static_cast<double>(below);
  if (weight == 0) return low;
  const auto high =
      static_cast<double>(*std::min_element(values.begin() + below + 1, values.end()));
  return low + weight * (high - low);
}

struct Middle {
  double median = 0;
  double distance = 0;  // between the quartiles
};

template <class T>
Middle find_middle(const Rows<T>& rows, size_t column) {
  Array<T> elements;
  elements.reserve(rows.numbers.size());
  for_each_row(rows, [&](const T* row) { elements.push_back(row[column]); });
  const double low = quantile(elements, 0.25);
  return {quantile(elements, 0.5), quantile(elements, 0.75) - low};
}

// Whether a column has two values, such as a mark of a category.
template <class T>
bool has_two_values(const Rows<T>& rows, size_t column, double minimum, double maximum) {
  for (size_t i = 0; i < rows.numbers.size(); ++i) {
    const auto value = static_cast<double>(rows.at(i)[column]);
    if (value != minimum && value != maximum) return false;
  }
  return true;
}

void set_column(Scaling& scaling, size_t column, double shift, double spread) {
  const auto scale = static_cast<float>(1 / spread);
  scaling.shift[column] = static_cast<float>(shift);
  // A spread below what a float can invert counts as none.
  scaling.scale[column] = std::isfinite(scale) ? scale : 1.0f;
}

}  // namespace

Scaling fit_scaling(const Matrix& features, config::ScalingMethod method) {
  Array<int64_t> rows(static_cast<size_t>(features.num_rows));
  std::iota(rows.begin(), rows.end(), int64_t{0});
  return fit_scaling(features, rows, method);
}

Scaling fit_scaling(const Matrix& features, std::span<const int64_t> rows,
                    config::ScalingMethod method) {
  const auto num_columns = static_cast<size_t>(features.num_columns);
  Scaling scaling{std::vector<float>(num_columns, 0.0f), std::vector<float>(num_columns, 1.0f)};
  const bool is_fixed = method == config::ScalingMethod::kNone ||
                        config::is_by_quantiles(method);  // done by encode()
  if (is_fixed || rows.empty() || num_columns == 0) return scaling;

  Columns columns;
  columns.num_rows = static_cast<double>(rows.size());
  columns.means.assign(num_columns, 0.0);
  columns.deviations.assign(num_columns, 0.0);
  std::visit(
      [&](const auto& values) {
        const Rows chosen{values.data(), num_columns, rows};
        find_ranges_and_means(chosen, columns);
        if (method != config::ScalingMethod::kMinMax) find_deviations(chosen, columns);
      },
      features.values);
  for (size_t column = 0; column < num_columns; ++column) {
    const double minimum = columns.minima[column];
    const double range = columns.maxima[column] - minimum;
    if (range == 0) {  // asked of the range, which rounding cannot blur
      scaling.shift[column] = static_cast<float>(minimum);
      scaling.scale[column] = 0;
    } else if (method == config::ScalingMethod::kStandard) {
      set_column(scaling, column, columns.means[column], columns.deviations[column]);
    } else if (method == config::ScalingMethod::kRobust) {
      std::visit(
          [&](const auto& values) {
            const Rows chosen{values.data(), num_columns, rows};
            const Middle middle = find_middle(chosen, column);
            double spread = middle.distance;
            if (spread == 0) {
              spread = has_two_values(chosen, column, minimum, columns.maxima[column])
                           ? range / 2
                           : columns.deviations[column];
            }
            set_column(scaling, column, middle.median, spread);
          },
          features.values);
    } else {
      set_column(scaling, column, minimum, range);
    }
  }
  return scaling;
}

void scale(const Scaling& scaling, std::span<float> values) {
  const size_t num_columns = scaling.shift.size();
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = (values[i] - scaling.shift[i % num_columns]) * scaling.scale[i % num_columns];
  }
}

std::vector<double> unscaled(const Scaling& scaling, std::span<const float> values) {
  const size_t num_columns = scaling.shift.size();
  std::vector<double> result;
  result.reserve(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t column = i % num_columns;
    const double value =
        static_cast<double>(values[i]) / scaling.scale[column] + scaling.shift[column];
    result.push_back(static_cast<float>(value) + scaling.offset_of(column));
  }
  return result;
}

std::vector<double> offsets_or_none(std::vector<double> offset) {
  const bool has_some = std::any_of(offset.begin(), offset.end(), [](double o) { return o != 0; });
  return has_some ? std::move(offset) : std::vector<double>();
}

}  // namespace trainer::data
