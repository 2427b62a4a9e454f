// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trainer/run/tracking/run_entry.h"
#include "trainer/run/tracking/run_list.h"

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

/// A row of a comparison: a key, a metric or a field, and the value of each run as text.
struct ComparedRow {
  std::string name;
  std::vector<std::string> values;
  std::optional<std::size_t> best;  // of a metric, the index of the best run, if there is one
};

/// Several runs side by side: their settings, metrics and curves, and what differs.
struct Comparison {
  std::vector<RunEntry> entries;
  std::vector<ComparedRow> fields;    // state, epochs, time, ...
  std::vector<ComparedRow> settings;  // keys whose values differ
  std::vector<ComparedRow> metrics;   // all, but the loss only with has_one_loss
  bool has_one_loss = true;           // all runs minimize the same quantity
  std::vector<ComparedRow> curves;    // loss of each epoch, drawn as text
  std::optional<Differences> differences;
};

/// Returns at most `width` values for a curve: all of them, or means of neighbors if there are
/// more.
std::vector<double> means_of_neighbors(const std::vector<double>& values, std::size_t width);

/// Returns the short name of a run among others, by its index from 0: "A", "B", ..., "Z", "27", ...
std::string letter_of(std::size_t run);

/// Compares at least two runs. `unicode` says whether curves may have characters beyond ASCII.
Comparison compare(std::vector<RunEntry> entries, bool unicode);

/// Returns the comparison as a table with a column for each run, called A, B, C in texts, with what
/// differs and whether that may be noise. In JSON the differences are {"over", "metrics": {name:
/// {"value", "low", "high", "is_noise"}}}. `width` as for Document::text().
std::string comparison_text(const Comparison& comparison, ListFormat format, std::size_t width = 0);

}  // namespace trainer::tracking
