// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trainer::duckdb {

/// Where a statement ends: `sql` without the comments, blanks and semicolons behind it.
std::string without_end(std::string_view sql);

/// What stands in quotes in a statement, single or double ones, in that order. Only such texts can
/// name a file.
std::vector<std::string> quoted_texts(std::string_view sql);

}  // namespace trainer::duckdb
