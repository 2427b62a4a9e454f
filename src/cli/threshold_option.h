// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "trainer/apply/model.h"
#include "trainer/metrics/classification.h"

#include "cli/option.h"

namespace trainer::cli {

/// The value of --threshold: a number, or the metric for which the best threshold is chosen.
struct ThresholdOption {
  std::string text = {};  // as given; empty: not given
  double number = 0.5;
  std::optional<metrics::DecisionMetric> metric = {};
};

Option threshold_option(ThresholdOption& threshold);

/// Parses `text` into `number` or `metric`. Adds a problem if it is neither.
void check_threshold(ThresholdOption& threshold, Problems& problems);

/// Sets the threshold of the model, if one was given, and returns a text that explains it, or an
/// empty one. Throws Error(kUsage) if the model does not have two classes, and the errors of
/// apply::find_threshold().
std::string apply_threshold(const ThresholdOption& threshold, apply::Model& model,
                            int64_t num_threads);

}  // namespace trainer::cli
