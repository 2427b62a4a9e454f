// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "devices/results.h"

namespace trainer::bench {

/// kWithinNoise: the medians differ by more than the bound, but the interquartile ranges overlap.
/// kNotCompared: other programs used the CPU, then or now.
enum class Change { kSame, kSlower, kFaster, kWithinNoise, kNotCompared };

/// What is allowed, in percent.
struct Limits {
  double max_slowdown = 5;
  double max_lost = 10;  // of the time, by other programs
};

struct RowChange {
  std::string name;
  double baseline_ms = 0;  // medians
  double now_ms = 0;
  double percent = 0;  // of the baseline; above 0 is slower
  Change change = Change::kSame;
};

struct Comparison {
  std::vector<RowChange> changes;          // rows that are in both results
  std::vector<std::string> only_baseline;  // rows of the baseline only
  std::vector<std::string> only_now;
  std::vector<std::string> other_conditions;  // "host/cpu: ... -> ..."
};

/// Throws Error(kData) if no row is in both results: an empty comparison would pass.
Comparison compare(const Results& baseline, const Results& now, const Limits& limits);

int64_t num_with(const Comparison& comparison, Change change);

/// The compared row with the largest slowdown, or nullptr without such rows.
const RowChange* worst(const Comparison& comparison);

std::string comparison_text(const Comparison& comparison, double max_slowdown_percent);

/// The variation of a row's median over the repetitions.
struct RowConsistency {
  std::string name;
  int64_t num_repetitions = 0;
  double min_ms = 0;
  double max_ms = 0;
  double percent = 0;  // coefficient of variation
};

std::vector<RowConsistency> consistency(std::span<const Row> rows);

int64_t num_inconsistent(std::span<const RowConsistency> rows, double max_percent);

std::string consistency_text(std::span<const RowConsistency> rows, double max_percent);

}  // namespace trainer::bench
