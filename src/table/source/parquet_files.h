// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace trainer::data {

/// Throws Error(kData) if `files` do not all have the columns of the first one, in any order:
/// DuckDB would leave out columns that only some have. Kinds are compared (numbers, texts, times,
/// booleans), not types. Reads their metadata only.
void require_same_columns(const std::vector<std::string>& files);

/// The files as a list in SQL.
std::string sql_list(const std::vector<std::string>& files);

}  // namespace trainer::data
