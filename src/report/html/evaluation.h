// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "trainer/base/text/json.h"
#include "trainer/report/html/report.h"
#include "trainer/run/tracking/run_entry.h"

namespace trainer::report {

/// Returns what is known about how well a run or series predicts rows that it was not trained on,
/// as report.js reads it: {"run", "split", "rows", "facts", "verdict", "scores", "classes",
/// "confusion", "confusion_note", "note", "charts", "importance", "worst"}; null if there is
/// nothing. Without the data, this is only what summary.json contains.
Json evaluation_json(const tracking::RunEntry& entry, std::size_t run,
                     const ReportOptions& options);

}  // namespace trainer::report
