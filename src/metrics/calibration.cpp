// SPDX-License-Identifier: Apache-2.0
#include "trainer/metrics/calibration.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace trainer::metrics {
namespace {

/// Reads the logits of one row as double. A single logit becomes two, of which the first is 0.
void read_row(const Outputs& logits, std::size_t row, std::vector<double>& values) {
  const auto width = static_cast<std::size_t>(logits.num_columns);
  const std::span<const float> given = logits.values.subspan(row * width, width);
  values.assign(given.begin(), given.end());
  if (width == 1) values.insert(values.begin(), 0.0);
}

/// Replaces logits by probabilities, and returns the logarithm of the sum of exp(logit).
double softmax(std::vector<double>& values) {
  const double largest = *std::max_element(values.begin(), values.end());
  double sum = 0;
  for (double& value : values) {
    value = std::exp(value - largest);
    sum += value;
  }
  for (double& value : values) value /= sum;
  return largest + std::log(sum);
}

/// The first and second derivative of the log loss, summed over the rows, with respect to log(1 /
/// T).
struct Slopes {
  double first = 0;
  double second = 0;
};

/// The derivatives of one row are d = (mean - x_target) b and d + variance b^2, where b = 1 / T,
/// and mean and variance are those of its logits x under their probabilities.
Slopes loss_slopes(const Outputs& logits, std::span<const int64_t> targets, double log_inverse) {
  const double inverse = std::exp(log_inverse);
  Slopes sums;
  std::vector<double> values;
  std::vector<double> probabilities;
  for (std::size_t row = 0; row < targets.size(); ++row) {
    read_row(logits, row, values);
    for (double& value : values) value *= inverse;
    probabilities = values;
    softmax(probabilities);
    const double target = values[static_cast<std::size_t>(targets[row])];
    double mean = 0;
    double variance = 0;
    for (std::size_t c = 0; c < values.size(); ++c) {
      const double distance = values[c] - target;
      mean += probabilities[c] * distance;
      variance += probabilities[c] * distance * distance;
    }
    sums.first += mean;
    sums.second += mean + variance - mean * mean;
  }
  return sums;
}

}  // namespace

// The derivative has a single root. It is found with Newton's method; a step that leaves the
// bracket is replaced by a bisection.
double fit_temperature(const Outputs& logits, std::span<const int64_t> targets) {
  constexpr int kMaxSteps = 50;
  constexpr double kTolerance = 1e-6;
  const bool is_finite = std::all_of(logits.values.begin(), logits.values.end(),
                                     [](float logit) { return std::isfinite(logit); });
  if (targets.empty() || !is_finite) return 1;
  double low = -5;
  double high = 5;
  double at = 0;
  for (int step = 0; step < kMaxSteps; ++step) {
    Slopes slopes = loss_slopes(logits, targets, at);
    slopes.first += at;  // derivative of the prior
    slopes.second += 1;
    (slopes.first > 0 ? high : low) = at;
    double next = at - slopes.first / slopes.second;
    if (!(slopes.second > 0) || next <= low || next >= high) next = (low + high) / 2;
    const double change = std::abs(next - at);
    at = next;
    if (change < kTolerance) break;
  }
  return std::exp(-at);
}

double log_loss_at(double temperature, const Outputs& logits, std::span<const int64_t> targets) {
  double sum = 0;
  std::vector<double> values;
  for (std::size_t row = 0; row < targets.size(); ++row) {
    read_row(logits, row, values);
    for (double& value : values) value /= temperature;
    const double target = values[static_cast<std::size_t>(targets[row])];
    sum += softmax(values) - target;
  }
  return sum / static_cast<double>(targets.size());
}

double brier_score(const Outputs& logits, std::span<const int64_t> targets) {
  double sum = 0;
  std::vector<double> values;
  for (std::size_t row = 0; row < targets.size(); ++row) {
    read_row(logits, row, values);
    softmax(values);
    values[static_cast<std::size_t>(targets[row])] -= 1;
    for (const double distance : values) sum += distance * distance;
  }
  if (values.size() == 2) sum /= 2;
  return sum / static_cast<double>(targets.size());
}

double expected_calibration_error(const Outputs& logits, std::span<const int64_t> targets) {
  constexpr std::size_t kNumBins = 15;
  // For each bin, the number of correct rows minus the sum of their probabilities.
  std::vector<double> differences(kNumBins);
  std::vector<double> values;
  for (std::size_t row = 0; row < targets.size(); ++row) {
    read_row(logits, row, values);
    softmax(values);
    const auto largest = std::max_element(values.begin(), values.end());
    if (!std::isfinite(*largest)) continue;
    const bool is_right = largest - values.begin() == targets[row];
    // A probability at the border of two bins belongs to the lower one.
    const double bin = std::ceil(*largest * kNumBins) - 1;
    const auto index = static_cast<std::size_t>(std::clamp(bin, 0.0, kNumBins - 1.0));
    differences[index] += (is_right ? 1 : 0) - *largest;
  }
  double sum = 0;
  for (const double difference : differences) sum += std::abs(difference);
  return sum / static_cast<double>(targets.size());
}

}  // namespace trainer::metrics
