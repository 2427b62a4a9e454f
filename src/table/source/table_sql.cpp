// SPDX-License-Identifier: Apache-2.0
#include "table/source/table_sql.h"

#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include "trainer/table/duckdb/query.h"

#include "table/source/file_kinds.h"
#include "table/source/input_file.h"
#include "table/source/parquet_files.h"
#include "table/source/source_files.h"

namespace trainer::data {
namespace {

// Types come from all rows, and every key becomes a column: those that few rows have, or that come
// late, too.
constexpr const char* kSelectJson =
    "SELECT * FROM read_json_auto({}, sample_size = -1, map_inference_threshold = -1, "
    "field_appearance_threshold = 0, union_by_name = true)";

}  // namespace

TableSql table_sql(const TableSource& source) {
  const SourceKind kind = source_kind(source);
  if (kind == SourceKind::kQuery) {
    return {
        {.name = "data.query",
         .sql = source.query,
         .folder = source.folder,
         .reads = source.reads_only_named ? duckdb::Reads::kNamedFiles : duckdb::Reads::kAnyFile},
        {},
        {},
        0};
  }
  TableSql sql{.files = source_files(source.path)};
  for (const std::string& file : sql.files) {
    sql.num_bytes += InputFile(file).size_hint();
    require_no_other_kind(std::filesystem::path(file));
  }
  const std::string files = sql_list(sql.files);
  sql.select = {
      .name = source.path,
      .sql = kind == SourceKind::kParquet
                 ? fmt::format("SELECT * FROM read_parquet({}, union_by_name = true)", files)
                 : fmt::format(kSelectJson, files),
      .is_of_user = false};
  if (kind == SourceKind::kParquet) {
    require_same_columns(sql.files);
    // In the metadata of the files.
    sql.count = sql.select;
    sql.count.sql.replace(0, std::string_view("SELECT *").size(), "SELECT count(*)");
  }
  return sql;
}

}  // namespace trainer::data
