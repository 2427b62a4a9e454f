// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "trainer/core/json.h"
#include "trainer/tracking/run_entry.h"

// Charts as src/report/page/report.js reads them: {"title", "x", "positive", "fixed", "diagonal",
// "series": [{"run", "name", "dash", "faint", "dots", "x", "y"}]}.
namespace trainer::report {

inline constexpr std::size_t kMaxPoints = 800;  // of a series

/// Numbers with four significant digits more than a chart shows; null where not finite.
Json number_list(std::span<const double> values);

/// A chart for each metric, and for learning rate, gradient norm, speed and memory, of all runs.
Json curve_charts(const std::vector<tracking::RunEntry>& entries);

}  // namespace trainer::report
