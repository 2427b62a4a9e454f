// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "trainer/core/enum_names.h"
#include "trainer/metrics/outputs.h"

namespace trainer::metrics {

/// What a threshold can be best for: scores that depend on the predicted classes.
enum class DecisionMetric { kAccuracy, kBalancedAccuracy, kF1, kBinaryF1 };

/// A threshold and what it achieves.
struct ThresholdChoice {
  double threshold = 0.5;
  double value = 0;  // of the metric
};

/// The threshold of two classes with the largest value of the metric on these rows: the middle
/// between two probabilities that occur; of equally good ones the one nearest to 0.5. Nothing if
/// the rows are not of both classes or a logit is not finite.
std::optional<ThresholdChoice> best_threshold(const Outputs& logits,
                                              std::span<const int64_t> targets,
                                              DecisionMetric metric);

}  // namespace trainer::metrics

namespace trainer {

template <>
std::span<const std::string> enum_names<metrics::DecisionMetric>();

}  // namespace trainer
