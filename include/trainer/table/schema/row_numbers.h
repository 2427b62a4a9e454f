// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trainer/table/table.h"

namespace trainer::data {

/// Whether a column is called an id: "id", "passenger_id", "PassengerId", "ID", "index".
bool is_called_id(std::string_view name);

/// A line that names the numeric columns that number the rows: another whole number in each of more
/// than ten rows, one after the other with hardly any gaps, or in a column that is called an id.
/// Nothing of columns that the configuration declares.
std::vector<std::string> find_row_numbers(const Table& table);

}  // namespace trainer::data
