// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "trainer/table/schema/column.h"

/// Texts for people that describe the columns of a table.

namespace trainer::apply {

/// The name of a kind of column for people, such as "numeric"; "dropped" for columns that the model
/// does not use.
std::string kind_text(data::ColumnKind kind);

/// The first eight words in quotes and the number of the others: "\"a\", \"b\" and 7 more".
std::string quoted_list(const std::vector<std::string>& words);

/// The kind of a column and how its cells become features, such as "numeric, missing values filled
/// with 3.5".
std::string column_text(const data::Column& column);

}  // namespace trainer::apply
