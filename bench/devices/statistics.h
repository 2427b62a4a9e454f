// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace trainer::bench {

/// Statistics of the step times of one row, in the unit of the times except `num_steps` and
/// `variation`.
struct Summary {
  int64_t num_steps = 0;
  double average = 0;
  double median = 0;
  double min = 0;
  double max = 0;
  double lower_quartile = 0;
  double upper_quartile = 0;
  double variation = 0;  // standard deviation / mean
};

/// All zeros if there are no times.
Summary summarize(std::vector<double> times);

/// The quantile `fraction` of `sorted`, with linear interpolation.
double quantile(std::span<const double> sorted, double fraction);

double median(std::vector<double> values);

/// The coefficient of variation: sample standard deviation / mean; 0 for fewer than two values.
double variation(std::span<const double> values);

/// The geometric mean of values > 0; 1 if there are none.
double geometric_mean(std::span<const double> values);

}  // namespace trainer::bench
