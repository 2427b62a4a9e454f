// SPDX-License-Identifier: Apache-2.0
#include "devices/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace trainer::bench {
namespace {

double average(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

double quantile(std::span<const double> sorted, double fraction) {
  if (sorted.empty()) return 0;
  const double position = fraction * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], position - static_cast<double>(below));
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return quantile(values, 0.5);
}

double variation(std::span<const double> values) {
  if (values.size() < 2) return 0;
  const double mean = average(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1)) / mean;
}

double geometric_mean(std::span<const double> values) {
  if (values.empty()) return 1;
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return std::exp(sum / static_cast<double>(values.size()));
}

Summary summarize(std::vector<double> times) {
  if (times.empty()) return {};
  std::sort(times.begin(), times.end());
  Summary summary;
  summary.num_steps = static_cast<int64_t>(times.size());
  summary.average = average(times);
  summary.median = quantile(times, 0.5);
  summary.min = times.front();
  summary.max = times.back();
  summary.lower_quartile = quantile(times, 0.25);
  summary.upper_quartile = quantile(times, 0.75);
  summary.variation = variation(times);
  return summary;
}

}  // namespace trainer::bench
