// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/table/duckdb/query.h"
#include "trainer/table/source/table_source.h"

namespace trainer::data {

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
