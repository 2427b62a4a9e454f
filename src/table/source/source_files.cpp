// SPDX-License-Identifier: Apache-2.0
#include "table/source/source_files.h"

#include <glob.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "trainer/base/text/format.h"
#include "trainer/base/text/parse.h"
#include "trainer/table/duckdb/query.h"

#include "table/error.h"
#include "table/source/input_file.h"

namespace trainer::data {
namespace {

namespace fs = std::filesystem;

bool is_one_of(const std::string& extension, std::initializer_list<const char*> endings) {
  return std::any_of(endings.begin(), endings.end(),
                     [&](const char* ending) { return extension == ending; });
}

/// Nothing for an ending that tells nothing.
std::optional<SourceKind> kind_of(const fs::path& file) {
  std::string extension = lower_case(file.extension().string());
  if (is_one_of(extension, {".gz", ".zst"})) {
    extension = lower_case(file.stem().extension().string());
  }
  if (is_one_of(extension, {".parquet", ".pq"})) return SourceKind::kParquet;
  if (is_one_of(extension, {".json", ".jsonl", ".ndjson"})) return SourceKind::kJson;
  if (is_one_of(extension, {".csv", ".tsv", ".tab", ".txt", ".sqlite", ".sqlite3"}))
    return SourceKind::kCsv;
  return std::nullopt;
}

bool is_pattern_of_files(const std::string& path) {
  std::error_code ignored;
  return path.find_first_of("*?[") != std::string::npos && !fs::exists(path, ignored);
}

std::vector<std::string> matching_files(const std::string& pattern) {
  glob_t found{};
  glob(pattern.c_str(), 0, nullptr, &found);
  const std::vector<std::string> paths(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  std::vector<std::string> files;
  std::copy_if(paths.begin(), paths.end(), std::back_inserter(files),
               [](const std::string& path) { return !fs::is_directory(path); });
  if (files.empty()) throw data_error(pattern, "no file matches this pattern");
  return files;
}

struct FolderFiles {
  std::vector<std::string> tables;    // paths, in order
  std::vector<std::string> left_out;  // names, in order
};

// A link to nothing is a table that is missing: who opens it says so.
bool is_file(const fs::directory_entry& entry) {
  std::error_code problem;
  return entry.is_regular_file(problem) || !entry.exists(problem);
}

FolderFiles files_in(const std::string& folder) {
  FolderFiles files;
  std::error_code problem;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, problem)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with('.')) continue;
    if (is_file(entry) && kind_of(entry.path())) {
      files.tables.push_back(entry.path().string());
    } else {
      files.left_out.push_back(name);
    }
  }
  if (problem) throw data_error(folder, "cannot be read: " + problem.message());
  if (files.tables.empty()) {
    throw data_error(folder,
                     "expected a file, or a folder with tables (.csv, .tsv, .parquet, "
                     ".json or .jsonl), got a folder without any");
  }
  std::sort(files.tables.begin(), files.tables.end());
  std::sort(files.left_out.begin(), files.left_out.end());
  return files;
}

std::string shown(std::vector<std::string> names) {
  constexpr size_t kMaxNamed = 8;
  const size_t num_more = names.size() - std::min(names.size(), kMaxNamed);
  names.resize(names.size() - num_more);
  for (std::string& name : names) name = in_quotes(name);
  if (num_more > 0) names.push_back(with_thousands(static_cast<int64_t>(num_more)) + " more");
  return joined(names);
}

}  // namespace

std::vector<std::string> source_files(const std::string& path) {
  std::error_code ignored;
  const bool is_folder = fs::is_directory(path, ignored);
  if (!is_folder && !is_pattern_of_files(path)) return {path};
  std::vector<std::string> files = is_folder ? files_in(path).tables : matching_files(path);
  std::sort(files.begin(), files.end());
  const auto is_other = [&](const std::string& file) { return kind_of(file) != kind_of(files[0]); };
  const auto other = std::find_if(files.begin(), files.end(), is_other);
  if (other != files.end()) {
    throw data_error(path, fmt::format("expected files of one kind, got {} and {}; choose some "
                                       "with a pattern such as *.csv",
                                       in_quotes(files.front()), in_quotes(*other)));
  }
  return files;
}

std::vector<std::string> describe_files(const std::string& path) {
  std::error_code ignored;
  const bool is_folder = fs::is_directory(path, ignored);
  if (!is_folder && !is_pattern_of_files(path)) return {};
  std::vector<std::string> names;
  for (const std::string& file : source_files(path)) {
    names.push_back(fs::path(file).filename().string());
  }
  std::vector<std::string> lines = {
      fmt::format("{}: {} read: {}", path, counted(std::ssize(names), "file"), shown(names))};
  if (!is_folder) return lines;
  const std::vector<std::string> left_out = files_in(path).left_out;
  if (left_out.empty()) return lines;
  lines.push_back(
      fmt::format("{}: left out, as their names are not those of tables (.csv, .tsv, "
                  ".txt, .parquet, .json, .jsonl or .sqlite, also before .gz or .zst): "
                  "{}",
                  path, shown(left_out)));
  return lines;
}

SourceKind source_kind(const TableSource& source) {
  if (!source.query.empty()) return SourceKind::kQuery;
  return kind_of(source_files(source.path).front()).value_or(SourceKind::kCsv);
}

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
