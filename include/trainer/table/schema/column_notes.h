// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/config/types.h"
#include "trainer/table/schema/column.h"
#include "trainer/table/table.h"

namespace trainer::data {

/// What was taken for what: one line that counts and names what is no feature, and one for each
/// column that is more than plain numbers. Empty for a table of plain numbers.
std::vector<std::string> describe_columns(const Table& table, const std::vector<Column>& columns,
                                          config::Imputation fill);

/// One line naming the numeric columns of `train` that have the same value in all rows, and one
/// naming those that repeat another. `columns` are those of its features.
std::vector<std::string> find_useless_columns(const Matrix& train,
                                              const std::vector<Column>& columns);

/// A line that counts the cells of a category that is not known by their columns, and nothing where
/// there are none: `where` says of what.
std::vector<std::string> describe_unknown(const std::vector<Column>& columns,
                                          const std::vector<int64_t>& num_unknown,
                                          const std::string& where);

}  // namespace trainer::data
