// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "trainer/base/text/enum_names.h"
#include "trainer/metrics/outputs.h"

namespace trainer::metrics {

/// The scores for which a threshold can be optimized. They depend on the predicted classes only.
enum class DecisionMetric { kAccuracy, kBalancedAccuracy, kF1, kBinaryF1 };

/// A threshold and the score that it achieves.
struct ThresholdChoice {
  double threshold = 0.5;
  double value = 0;  // value of the metric
};

/// Returns the threshold for two classes with the largest value of the metric on these rows. It is
/// the middle between two probabilities that occur, or 0.5 if that is between them; of equally good
/// thresholds the one nearest to 0.5. Nothing if the rows are not of both classes, or if a logit is
/// not finite.
std::optional<ThresholdChoice> best_threshold(const Outputs& logits,
                                              std::span<const int64_t> targets,
                                              DecisionMetric metric);

}  // namespace trainer::metrics

namespace trainer {

template <>
std::span<const std::string> enum_names<metrics::DecisionMetric>();

}  // namespace trainer
