// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace trainer::bench {

/// The times of the steps of one row. All but `num_steps` and `variation` in the unit of the times.
struct Summary {
  int64_t num_steps = 0;
  double average = 0;
  double median = 0;
  double min = 0;
  double max = 0;
  double lower_quartile = 0;
  double upper_quartile = 0;
  double variation = 0;  // standard deviation by average
};

/// All zeros for no times.
Summary summarize(std::vector<double> times);

/// The value below which that fraction of `sorted` lies, between its neighbours by straight line.
double quantile(std::span<const double> sorted, double fraction);

double median(std::vector<double> values);

/// Coefficient of variation: the standard deviation (of a sample) by the average; 0 for fewer than
/// two values.
double variation(std::span<const double> values);

/// The right average of ratios; values are > 0. 1 for none.
double geometric_mean(std::span<const double> values);

}  // namespace trainer::bench
