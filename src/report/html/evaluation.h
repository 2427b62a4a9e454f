// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "trainer/apply/evaluate.h"
#include "trainer/apply/explain/explained_rows.h"
#include "trainer/apply/explain/importance.h"
#include "trainer/base/text/json.h"
#include "trainer/report/html/report.h"
#include "trainer/run/tracking/run_entry.h"

namespace trainer::report {

/// Returns what is known about a model's predictions on its test or validation split, as report.js
/// reads it: {"run", "split", "rows", "classes", "confusion", "confusion_note", "note", "charts",
/// "importance", "worst"}; null if there is nothing. Without the data, this is only what
/// summary.json contains.
Json evaluation_json(const tracking::RunEntry& entry, std::size_t run,
                     const ReportOptions& options);

/// Returns the rows with the largest losses and the cells of their most important columns, as
/// report.js reads them: {"head", "rows"}.
Json worst_rows(const apply::Model& model, const apply::SplitOutputs& found,
                std::span<const explain::ColumnGroup> groups,
                const std::optional<explain::Importance>& importance);

}  // namespace trainer::report
