// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

/// The curves that reports draw for a classification.
namespace trainer::metrics {

/// The points (x[i], y[i]) of a curve, in order.
struct Curve {
  std::vector<double> x;
  std::vector<double> y;
};

/// Returns the ROC curve of `scores` for rows that are positive (1) or not (0): false positive
/// rates and true positive rates from (0, 0) to (1, 1), with a point for each different score.
/// Empty if all rows are positive or none is. A score that is not finite counts as less than all
/// others.
Curve roc_curve(std::span<const double> scores, std::span<const uint8_t> is_positive);

/// Returns recall and precision for each different score, from the largest down. Empty without a
/// positive row.
Curve precision_recall_curve(std::span<const double> scores, std::span<const uint8_t> is_positive);

/// The rows whose predicted probability is in one bin of [0, 1].
struct ReliabilityBin {
  double mean_probability = 0;
  double frequency = 0;  // fraction of the rows for which the event happened
  int64_t num_rows = 0;
};

/// Divides [0, 1] into `num_bins` bins of equal width, and returns those that have rows. `happened`
/// is 1 if the event with this probability happened.
std::vector<ReliabilityBin> reliability(std::span<const double> probabilities,
                                        std::span<const uint8_t> happened, int64_t num_bins);

}  // namespace trainer::metrics
