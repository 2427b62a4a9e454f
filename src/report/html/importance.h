// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trainer/apply/evaluate.h"
#include "trainer/apply/explain/explained_rows.h"
#include "trainer/apply/explain/importance.h"
#include "trainer/base/text/json.h"
#include "trainer/report/html/report.h"

namespace trainer::report {

/// The text in place of an importance that was not measured.
inline constexpr const char* kTooLarge =
    "Not measured, because it would take long for a model of this size; `trainer explain` does it.";

/// Returns the importance of the columns for the metric of the run, from a few shuffles of so many
/// rows that this takes a few seconds for a model of any size. Nothing if these would be too few
/// rows.
std::optional<explain::Importance> measured_importance(const apply::Model& model,
                                                       const apply::SplitOutputs& found,
                                                       std::span<const explain::ColumnGroup> groups,
                                                       const ReportOptions& options);

/// Returns the names of the columns whose importance is more than noise, the most important first.
/// `importance` is what importance_json() has returned.
std::vector<std::string> important_columns(const Json& importance);

/// Returns the importance, and how predictions depend on the most important columns, as report.js
/// reads it: {"note", "entries": [{"name", "value", "spread", "text", "std", "noise"}], "more",
/// "effects": [{"title", "text", "chart", "head", "rows"}]}.
Json importance_json(const apply::Model& model, const apply::SplitOutputs& found,
                     std::span<const explain::ColumnGroup> groups,
                     const explain::Importance& importance, std::size_t run,
                     const ReportOptions& options);

}  // namespace trainer::report
