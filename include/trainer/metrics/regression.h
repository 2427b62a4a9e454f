// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace trainer::metrics {

/// The scores of one target, with e = prediction - target: MAE = mean |e|, RMSE = sqrt(mean e^2),
/// MAPE = mean |e| / max(|target|, 2.2e-16), so that a target of 0 makes it huge, and R2 = 1 - sum
/// e^2 / sum (target - mean target)^2. If the target is constant, R2 is 1 if all predictions are
/// exact, else 0; for a single row it is NaN, as in scikit-learn.
struct TargetScores {
  double mae = 0;
  double rmse = 0;
  double mape = 0;
  double r2 = 0;
};

/// Returns the scores of each column. Both inputs are `[rows, num_columns]`, in double precision,
/// so that large numbers that hardly differ stay distinct.
std::vector<TargetScores> target_scores(std::span<const double> predictions,
                                        std::span<const double> targets, int64_t num_columns);

}  // namespace trainer::metrics
