// SPDX-License-Identifier: Apache-2.0
#include "data/table_sql.h"

#include <string_view>

#include <fmt/format.h>

#include "trainer/duckdb/query.h"

#include "data/input_file.h"
#include "data/source_files.h"

namespace trainer::data {
namespace {

std::string list_of(const std::vector<std::string>& files) {
  std::string list;
  for (const std::string& file : files) {
    list += (list.empty() ? "" : ", ") + duckdb::quoted_text(file);
  }
  return "[" + list + "]";
}

}  // namespace

TableSql table_sql(const TableSource& source) {
  const SourceKind kind = source_kind(source);
  if (kind == SourceKind::kQuery) {
    return {{.name = "data.query", .sql = source.query, .folder = source.folder}, {}, {}, 0};
  }
  TableSql sql{.files = source_files(source.path)};
  for (const std::string& file : sql.files) sql.num_bytes += InputFile(file).size_hint();
  const char* reader = kind == SourceKind::kParquet ? "read_parquet" : "read_json_auto";
  sql.select = {.name = source.path,
                .sql = fmt::format("SELECT * FROM {}({})", reader, list_of(sql.files)),
                .is_of_user = false};
  if (kind == SourceKind::kParquet) {  // in the metadata of the files
    sql.count = sql.select;
    sql.count.sql.replace(0, std::string_view("SELECT *").size(), "SELECT count(*)");
  }
  return sql;
}

}  // namespace trainer::data
