// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "trainer/apply/model.h"
#include "trainer/metrics/threshold.h"

#include "cli/option.h"

namespace trainer::cli {

/// --threshold: a number, or the metric that it is to be best for.
struct ThresholdOption {
  std::string text = {};  // as given; empty: none
  double number = 0.5;
  std::optional<metrics::DecisionMetric> metric = {};
};

Option threshold_option(ThresholdOption& threshold);

/// Parses the text. Adds a problem for one that is neither.
void check_threshold(ThresholdOption& threshold, Problems& problems);

/// Gives the model its threshold, if one was asked for, and returns a text that explains it. Throws
/// as apply::find_threshold() does.
std::string apply_threshold(const ThresholdOption& threshold, apply::Model& model,
                            int64_t num_threads);

}  // namespace trainer::cli
