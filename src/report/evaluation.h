// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "trainer/core/json.h"
#include "trainer/report/report.h"
#include "trainer/tracking/run_entry.h"

namespace trainer::report {

/// What a model says of the rows of its test or validation split, as report.js reads it: {"run",
/// "split", "rows", "classes", "confusion", "note", "charts", "worst"}; null where a run has said
/// nothing. Without the data, what its summary.json has.
Json evaluation_json(const tracking::RunEntry& entry, std::size_t run,
                     const ReportOptions& options);

}  // namespace trainer::report
