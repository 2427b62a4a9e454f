// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "trainer/metrics/outputs.h"

/// Whether the probabilities of a classification are right, and how to correct them.
namespace trainer::metrics {

/// The temperature T > 0 for which the logits divided by T have the smallest log loss on these rows
/// (Guo et al., "On Calibration of Modern Neural Networks", ICML 2017). As few rows may be
/// predicted without an error, for which no T would be small enough, log T has a normal prior with
/// mean 0 and deviation 1. 1 if a logit is not finite, or without rows.
double fit_temperature(const Outputs& logits, std::span<const int64_t> targets);

/// The log loss of the logits divided by `temperature`, see log_loss().
double log_loss_at(double temperature, const Outputs& logits, std::span<const int64_t> targets);

/// The Brier score: the mean over rows of the sum over classes of (probability - 1 or 0)^2, for two
/// classes half of it, as scikit-learn 1.7 has it.
double brier_score(const Outputs& logits, std::span<const int64_t> targets);

/// The expected calibration error: the mean over rows of |accuracy - mean probability| of the bin
/// that the largest probability of the row is in, with 15 bins of equal width (Guo et al. 2017).
double expected_calibration_error(const Outputs& logits, std::span<const int64_t> targets);

}  // namespace trainer::metrics
