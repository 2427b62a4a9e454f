// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "trainer/data/column.h"

/// Columns of a table as people read of them.
namespace trainer::apply {

/// What people call the kind of a column: "numeric", or "dropped" where the model leaves it out.
std::string kind_text(data::ColumnKind kind);

/// "\"a\", \"b\" and 7 more": the first eight.
std::string quoted_list(const std::vector<std::string>& words);

/// "numeric, missing values filled with 3.5": the kind of a column and how its cells become
/// features.
std::string column_text(const data::Column& column);

}  // namespace trainer::apply
