// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "trainer/base/text/json.h"
#include "trainer/run/tracking/run_entry.h"

// Charts as src/report/page/report.js reads them: {"title", "x", "positive", "fixed", "diagonal",
// "still", "shares", "series": [{"run", "name", "dash", "faint", "dots", "color", "no_line", "x",
// "y"}]}.
namespace trainer::report {

inline constexpr std::size_t kMaxPoints = 800;  // of one series

/// Returns the numbers with six significant digits; null for those that are not finite.
Json number_list(std::span<const double> values);

/// Returns a chart for each metric, and for learning rate, gradient norm, speed and memory, with
/// the curves of all runs.
Json curve_charts(const std::vector<tracking::RunEntry>& entries);

}  // namespace trainer::report
