// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "trainer/tracking/run_entry.h"

namespace trainer::report {

/// What goes into a report.
struct ReportOptions {
  /// Whether the rows of the test split, or without one of the validation split, are predicted, for
  /// curves of the classes, residuals and the worst rows. Needs the data of the runs; what cannot
  /// be read is said in the report.
  bool evaluates = true;
  int64_t num_threads = 1;
};

/// One HTML file about these runs (at least one) that asks for nothing else: curves, metrics, what
/// differs, evaluations, columns, settings and the machine. In src/report/page are its parts.
std::string report_html(const std::vector<tracking::RunEntry>& entries,
                        const ReportOptions& options);

/// Writes report.html into the folder of a run that has just been completed, by the process that
/// holds its lock. Throws Error(kFileSystem).
void write_own_report(const std::filesystem::path& folder, const ReportOptions& options);

}  // namespace trainer::report
