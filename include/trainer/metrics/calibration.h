// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "trainer/metrics/score.h"

/// Measures of how well the probabilities of a classification agree with frequencies, and their
/// correction.
namespace trainer::metrics {

/// Returns the temperature T > 0 for which the logits divided by T have the smallest log loss on
/// these rows (Guo et al., "On Calibration of Modern Neural Networks", ICML 2017). Because a few
/// rows may all be predicted correctly, so that no T would be small enough, log T has a normal
/// prior with mean 0 and standard deviation 1. Returns 1 if a logit is not finite, or without rows.
double fit_temperature(const Outputs& logits, std::span<const int64_t> targets);

/// Returns the log loss of the logits divided by `temperature`, see log_loss().
double log_loss_at(double temperature, const Outputs& logits, std::span<const int64_t> targets);

/// Returns the Brier score: the mean over rows of the sum over classes of (probability - y)^2,
/// where y is 1 for the class of the row, else 0. For two classes it is half of that, as in
/// scikit-learn 1.7.
double brier_score(const Outputs& logits, std::span<const int64_t> targets);

/// Returns the expected calibration error: the mean over rows of |accuracy - mean probability| of
/// the bin of the row's largest probability, with 15 bins of equal width (Guo et al. 2017).
double expected_calibration_error(const Outputs& logits, std::span<const int64_t> targets);

}  // namespace trainer::metrics
