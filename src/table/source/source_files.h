// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/table/duckdb/query.h"
#include "trainer/table/source/table_source.h"

namespace trainer::data {

/// What a table is stored as.
enum class SourceKind { kCsv, kParquet, kJson, kQuery };

/// Told by the ending of the path, of the first file of several; all others are CSV text.
SourceKind source_kind(const TableSource& source);

/// Throws Error(kData) if `files` do not all have the columns of the first one, in any order:
/// DuckDB would leave out columns that only some have. Kinds are compared (numbers, texts, times,
/// booleans), not types. Reads their metadata only.
void require_same_columns(const std::vector<std::string>& files);

/// The files as a list in SQL.
std::string sql_list(const std::vector<std::string>& files);

/// A table as DuckDB is asked for it.
struct TableSql {
  duckdb::Statement select = {};
  duckdb::Statement count = {};         // of the rows, where that is quick; else it has no text
  std::vector<std::string> files = {};  // that it reads; none of a query, which nobody can tell
  uint64_t num_bytes = 0;               // of these
};

/// Throws Error(kData) for a file that is not there.
TableSql table_sql(const TableSource& source);

}  // namespace trainer::data
