// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trainer/run/tracking/run_entry.h"

namespace trainer::tracking {

/// How much a metric of one model differs from that of another, and how much of that may be chance.
struct Difference {
  std::string metric;  // "test.accuracy"
  double value = 0;    // of the second, minus that of the first
  double low = 0;      // lower and upper end of the 95 % interval
  double high = 0;
  bool is_noise() const { return low <= 0 && high >= 0; }
};

/// Differences of metrics over several runs, and what they were measured over.
struct Differences {
  std::string over;  // "5 folds", "3 and 4 runs with other seeds"
  std::vector<Difference> metrics;
};

/// Returns the mean of paired differences, and its interval, over the runs of a cross-validation
/// with `num_folds` folds. The training sets of folds overlap, so the variance is corrected (Nadeau
/// and Bengio, "Inference for the Generalization Error", 2003). There must be at least two
/// differences.
Difference paired_difference(std::span<const double> differences, int64_t num_folds);

/// Returns the difference between the means of independent runs, second minus first, and its
/// interval (Welch's t). Each must have at least two values.
Difference difference_of_means(std::span<const double> first, std::span<const double> second);

/// Returns the differences between two cross-validations with the same folds, or between the runs
/// of two configurations that have several seeds each. Nothing if `entries` are neither.
std::optional<Differences> find_differences(std::span<const RunEntry> entries);

}  // namespace trainer::tracking
