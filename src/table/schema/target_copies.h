// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "trainer/table/table.h"

#include "table/schema/target.h"

namespace trainer::data {

/// A line that names the columns that tell the target: each class has a value of its own there, the
/// same in all its rows; or the target is a multiple of the numbers plus a constant, to a
/// thousandth of its range. Nothing of a table with fewer than 20 rows.
std::vector<std::string> find_target_copies(const Table& table, const Target& target);

}  // namespace trainer::data
