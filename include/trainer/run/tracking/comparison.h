// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "trainer/run/tracking/difference.h"
#include "trainer/run/tracking/run_entry.h"
#include "trainer/run/tracking/run_list.h"

namespace trainer::tracking {

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
