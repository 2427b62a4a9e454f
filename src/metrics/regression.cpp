// SPDX-License-Identifier: Apache-2.0
#include "trainer/metrics/regression.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace trainer::metrics {
namespace {

/// Every `width`-th of `values`, from the first on.
double mean_of(std::span<const float> values, std::size_t first, std::size_t width) {
  const std::size_t count = values.size() / width;
  double sum = 0;
  for (std::size_t i = first; i < values.size(); i += width) sum += static_cast<double>(values[i]);
  return sum / static_cast<double>(count);
}

TargetScores scores_of(const Outputs& predictions, std::span<const float> targets,
                       std::size_t column) {
  const auto width = static_cast<std::size_t>(predictions.num_columns);
  constexpr double kLeast = std::numeric_limits<double>::epsilon();
  const double mean = mean_of(targets, column, width);
  double absolute = 0;
  double relative = 0;
  double squares = 0;
  double spread = 0;
  for (std::size_t i = column; i < targets.size(); i += width) {
    const auto target = static_cast<double>(targets[i]);
    const double error = static_cast<double>(predictions.values[i]) - target;
    absolute += std::fabs(error);
    relative += std::fabs(error) / std::max(std::fabs(target), kLeast);
    squares += error * error;
    spread += (target - mean) * (target - mean);
  }
  const auto num_rows = static_cast<double>(predictions.num_rows());
  const double of_constant = squares == 0 ? 1 : 0;
  return {absolute / num_rows, std::sqrt(squares / num_rows), relative / num_rows,
          predictions.num_rows() < 2 ? std::nan("")
          : spread == 0              ? of_constant
                                     : 1 - squares / spread};
}

}  // namespace

std::vector<TargetScores> target_scores(const Outputs& predictions,
                                        std::span<const float> targets) {
  std::vector<TargetScores> scores;
  scores.reserve(static_cast<std::size_t>(predictions.num_columns));
  for (std::size_t column = 0; column < static_cast<std::size_t>(predictions.num_columns);
       ++column) {
    scores.push_back(scores_of(predictions, targets, column));
  }
  return scores;
}

}  // namespace trainer::metrics
