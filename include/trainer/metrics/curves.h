// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

/// What is drawn of a classification.
namespace trainer::metrics {

/// Points (x[i], y[i]) in their order.
struct Curve {
  std::vector<double> x;
  std::vector<double> y;
};

/// The ROC curve of `scores` for rows that are positive (1) or not (0): false positive rates and
/// true positive rates from (0, 0) to (1, 1), a point for each different score. Empty if all rows
/// are alike. A score that is not finite is less than all others.
Curve roc_curve(std::span<const double> scores, std::span<const uint8_t> is_positive);

/// Recall and precision in the same way, from the largest score down. Empty without a positive row.
Curve precision_recall_curve(std::span<const double> scores, std::span<const uint8_t> is_positive);

/// Rows whose probability is in one part of [0, 1].
struct ReliabilityBin {
  double mean_probability = 0;
  double frequency = 0;  // of what the probability is of
  int64_t num_rows = 0;
};

/// The bins of equal width that have rows, of `num_bins`.
std::vector<ReliabilityBin> reliability(std::span<const double> probabilities,
                                        std::span<const uint8_t> happened, int64_t num_bins);

}  // namespace trainer::metrics
