// SPDX-License-Identifier: Apache-2.0
#include "table/source/parquet_files.h"

#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "trainer/base/text/format.h"
#include "trainer/table/duckdb/query.h"

#include "table/error.h"

namespace trainer::data {
namespace {

// One row with the first difference: file, column, its kind in the first file and in this one.
// Leaves of the schema only: those above are named as the program that wrote the file pleases.
constexpr const char* kFirstDifference = R"(
WITH cells AS (
  SELECT file_name AS file, name, min(CASE
    WHEN type = 'BOOLEAN' THEN 'boolean'
    WHEN converted_type IN ('DATE', 'TIMESTAMP_MILLIS', 'TIMESTAMP_MICROS')
      OR starts_with(logical_type, 'Timestamp') OR type = 'INT96' THEN 'time'
    WHEN type = 'BYTE_ARRAY' AND converted_type IS DISTINCT FROM 'DECIMAL' THEN 'text'
    ELSE 'number' END) AS kind
  FROM parquet_schema({}) WHERE type IS NOT NULL GROUP BY ALL)
SELECT files.file, names.name, expected.kind AS wanted, got.kind AS found
FROM (SELECT DISTINCT file FROM cells) AS files
CROSS JOIN (SELECT DISTINCT name FROM cells) AS names
LEFT JOIN cells AS expected ON expected.file = {} AND expected.name = names.name
LEFT JOIN cells AS got ON got.file = files.file AND got.name = names.name
WHERE expected.kind IS DISTINCT FROM got.kind
ORDER BY files.file, got.kind IS NOT NULL, names.name LIMIT 1)";

}  // namespace

std::string sql_list(const std::vector<std::string>& files) {
  std::string list;
  for (const std::string& file : files) {
    list += (list.empty() ? "" : ", ") + duckdb::quoted_text(file);
  }
  return "[" + list + "]";
}

void require_same_columns(const std::vector<std::string>& files) {
  if (files.size() < 2) return;
  duckdb::Query query(
      {.name = files.front(),
       .sql = fmt::format(kFirstDifference, sql_list(files), duckdb::quoted_text(files.front())),
       .is_of_user = false});
  query.start({{0, duckdb::CellType::kText},
               {1, duckdb::CellType::kText},
               {2, duckdb::CellType::kText},
               {3, duckdb::CellType::kText}});
  const std::optional<duckdb::Chunk> found = query.next();
  if (!found || found->num_rows() == 0) return;
  const auto column = [&](size_t kind) {
    const std::string_view text = found->text(kind, 0);
    if (text.empty()) return std::string("none");
    return fmt::format("a column of the kind {}", text);
  };
  throw data_error(
      std::string(found->text(0, 0)),
      fmt::format("expected the columns of {}: for {}, {}, got {}; choose other files, or make the "
                  "columns the same with a query (data.query)",
                  files.front(), in_quotes(found->text(1, 0)), column(2), column(3)));
}

}  // namespace trainer::data
