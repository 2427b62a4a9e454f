// SPDX-License-Identifier: Apache-2.0
#include "trainer/metrics/regression.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace trainer::metrics {
namespace {

/// Returns the mean of every `width`-th value, beginning with the one at index `first`.
double column_mean(std::span<const double> values, std::size_t first, std::size_t width) {
  const std::size_t count = values.size() / width;
  double sum = 0;
  for (std::size_t i = first; i < values.size(); i += width) sum += values[i];
  return sum / static_cast<double>(count);
}

TargetScores scores_of(std::span<const double> predictions, std::span<const double> targets,
                       std::size_t column, std::size_t width) {
  constexpr double kMinTarget = std::numeric_limits<double>::epsilon();
  const double mean = column_mean(targets, column, width);
  double absolute = 0;
  double relative = 0;
  double squares = 0;
  double spread = 0;
  for (std::size_t i = column; i < targets.size(); i += width) {
    const double target = targets[i];
    const double error = predictions[i] - target;
    absolute += std::fabs(error);
    relative += std::fabs(error) / std::max(std::fabs(target), kMinTarget);
    squares += error * error;
    spread += (target - mean) * (target - mean);
  }
  const std::size_t count = targets.size() / width;
  const auto num_rows = static_cast<double>(count);
  const double of_constant = squares == 0 ? 1 : 0;
  return {.mae = absolute / num_rows,
          .rmse = std::sqrt(squares / num_rows),
          .mape = relative / num_rows,
          .r2 = count < 2     ? std::nan("")
                : spread == 0 ? of_constant
                              : 1 - squares / spread};
}

}  // namespace

std::vector<TargetScores> target_scores(std::span<const double> predictions,
                                        std::span<const double> targets, int64_t num_columns) {
  const auto width = static_cast<std::size_t>(num_columns);
  std::vector<TargetScores> scores;
  scores.reserve(width);
  for (std::size_t column = 0; column < width; ++column) {
    scores.push_back(scores_of(predictions, targets, column, width));
  }
  return scores;
}

}  // namespace trainer::metrics
