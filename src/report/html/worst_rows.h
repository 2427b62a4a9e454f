// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>

#include "trainer/apply/evaluate.h"
#include "trainer/apply/explain/column_groups.h"
#include "trainer/apply/explain/importance.h"
#include "trainer/base/text/json.h"

namespace trainer::report {

/// Returns the rows with the largest losses and the cells of their most important columns, as
/// report.js reads them: {"head", "rows"}.
Json worst_rows(const apply::Model& model, const apply::SplitOutputs& found,
                std::span<const explain::ColumnGroup> groups,
                const std::optional<explain::Importance>& importance);

}  // namespace trainer::report
