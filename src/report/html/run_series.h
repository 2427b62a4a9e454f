// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace trainer::report {

/// Values of one field of metrics.jsonl over the steps.
struct RunSeries {
  std::string field;      // "loss", "learning_rate"
  std::string split;      // "train" or "val"
  bool is_steps = false;  // of records within an epoch, not of those at its end
  std::vector<double> steps;
  std::vector<double> values;  // NaN: not finite
};

/// Returns the series of a run folder, in the order in which they first appear in the file. Lines
/// that are not records are skipped.
std::vector<RunSeries> read_series(const std::filesystem::path& root);

/// Reduces a series to at most `max_points`: the first and the last point, and of each group of
/// neighbors the smallest and the largest value, so that no peak is lost.
void thin_out(std::vector<double>& x, std::vector<double>& y, std::size_t max_points);

}  // namespace trainer::report
