// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "trainer/tracking/difference.h"
#include "trainer/tracking/run_entry.h"
#include "trainer/tracking/run_list.h"

namespace trainer::tracking {

/// A row of a comparison: a key, a metric or a field, and what each run has.
struct ComparedRow {
  std::string name;
  std::vector<std::string> values;
  std::optional<std::size_t> best;  // of a metric, the run that is best, if one is
};

/// Runs next to each other.
struct Comparison {
  std::vector<RunEntry> entries;
  std::vector<ComparedRow> fields;    // state, epochs, time, ...
  std::vector<ComparedRow> settings;  // keys whose values differ
  std::vector<ComparedRow> metrics;   // all; the loss only where it is one quantity
  bool has_one_loss = true;           // whether all runs have minimized the same
  std::vector<ComparedRow> curves;    // of the loss of each epoch, as text
  std::optional<Differences> differences;
};

/// At most `width` values for a curve: means of neighbors.
std::vector<double> means_of_neighbors(const std::vector<double>& values, std::size_t width);

/// What a run is called among others: "A", "B", ..., "Z", "27", ...
std::string letter_of(std::size_t run);

/// Compares at least two runs. `unicode`:
/// whether curves may have characters beyond ASCII.
Comparison compare(std::vector<RunEntry> entries, bool unicode);

/// A table with a column for each run, called A, B, C; what differs, and whether it is noise. In
/// JSON the differences are {"over", "metrics": {name: {"value", "low", "high", "is_noise"}}}.
/// `width` as for Document::text().
std::string comparison_text(const Comparison& comparison, ListFormat format, std::size_t width = 0);

}  // namespace trainer::tracking
