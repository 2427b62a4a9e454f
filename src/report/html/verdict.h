// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/base/text/json.h"
#include "trainer/run/tracking/run_entry.h"

#include "report/html/findings.h"

// What a report says first: what the model is, and whether it is good.
namespace trainer::report {

/// Returns names and texts: the task, the columns, the rows and the model. Empty without a model.
Json fact_rows(const Findings& found);

/// Returns {"title", "good", "text"}: whether the model beats its baseline, and how well it
/// predicts, with a 95 % interval of the fraction of right classes (Wilson, "Probable inference",
/// 1927) or of the mean error. Null if the baseline is not known.
Json verdict_json(const Findings& found);

/// Returns {"head", "rows"}: the metrics of each split and of the baseline; of a cross-validation
/// mean and standard deviation; of an ensemble also the mean of its members.
Json score_table(const tracking::RunEntry& entry, const Findings& found);

}  // namespace trainer::report
