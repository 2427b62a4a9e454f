// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "trainer/base/text/json.h"
#include "trainer/run/tracking/run_entry.h"

// Charts as src/report/html/page/report.js reads them: {"title", "x", "positive", "fixed",
// "diagonal", "still", "shares", "marks": [{"run", "x"}], "series": [{"run", "name", "dash",
// "faint", "dots", "color", "no_line", "x", "y"}]}.

namespace trainer::report {

/// Values of one field of metrics.jsonl over the steps.
struct RunSeries {
  std::string field;      // "loss", "learning_rate"
  std::string split;      // "train" or "val"
  bool is_steps = false;  // of records within an epoch, not of those at its end
  std::vector<double> steps;
  std::vector<double> values;  // NaN: not finite
};

/// The series of a run.
struct RunCurves {
  std::vector<RunSeries> series;  // in the order in which they first appear in the file
  double steps_per_epoch = 0;     // 0: no epoch has ended
};

/// Reads the series of a run folder. Lines that are not records are skipped.
RunCurves read_curves(const std::filesystem::path& root);

/// Reduces a series to at most `max_points`: the first and the last point, and of each group of
/// neighbors the smallest and the largest value, so that no peak is lost.
void thin_out(std::vector<double>& x, std::vector<double>& y, std::size_t max_points);

/// Returns the warnings in the log of a run, or in the logs of the runs of a series: each text
/// once, in the order of the logs.
std::vector<std::string> logged_warnings(const std::filesystem::path& folder);

inline constexpr std::size_t kMaxPoints = 800;  // of one series

/// Returns the numbers with six significant digits; null for those that are not finite.
Json number_list(std::span<const double> values);

/// Returns a chart for each metric, and for learning rate, gradient norm, speed and memory, with
/// the curves of all runs over the epochs and a mark at the best epoch of each.
Json curve_charts(const std::vector<tracking::RunEntry>& entries);

}  // namespace trainer::report
