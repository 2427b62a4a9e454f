// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "trainer/run/tracking/run_entry.h"

namespace trainer::report {

/// What a report contains, and how many threads may compute it.
struct ReportOptions {
  /// Whether the model predicts the rows of the test split, or else of the validation split, for
  /// curves of the classes, residuals and the worst rows. This needs the data of the runs; the
  /// report says what cannot be read.
  bool evaluates = true;
  int64_t num_threads = 1;
  /// Whether a browser loads the page again every few seconds, because runs go on.
  bool refreshes = false;
};

/// Returns one HTML file about these runs (at least one) that loads no other files: curves,
/// metrics, differences, evaluations, columns, settings and the machine. The parts of the page are
/// in src/report/html/page.
std::string report_html(const std::vector<tracking::RunEntry>& entries,
                        const ReportOptions& options);

/// Writes report.html into the folder of a run or series that has just been completed, by the
/// process that holds its lock. Returns the names of the columns whose importance was measured and
/// is more than noise, the most important first. Throws Error(kFileSystem).
std::vector<std::string> write_own_report(const std::filesystem::path& folder,
                                          const ReportOptions& options);

}  // namespace trainer::report
