// SPDX-License-Identifier: Apache-2.0
#include "trainer/table/source/table_source.h"

#include <system_error>

#include "trainer/base/error.h"
#include "trainer/config/data_config.h"

#include "table/source/source_files.h"
#include "table/source/sqlite_reader.h"

namespace trainer::data {

TableSource training_source(const config::DataConfig& data) {
  if (data.source != config::Source::kQuery) return file_source(data, data.path);
  return {.path = "",
          .format = csv_format(data, {}),
          .query = data.query,
          .folder = data.query_folder,
          .reads_only_named = data.query_files == config::QueryFiles::kOnlyNamed};
}

TableSource file_source(const config::DataConfig& data, const std::filesystem::path& path) {
  std::error_code ignored;
  const bool is_folder = std::filesystem::is_directory(path, ignored);
  const std::filesystem::path first =
      is_folder ? std::filesystem::path(source_files(path).front()) : path;
  return {.path = path.string(), .format = csv_format(data, first)};
}

bool has_lines(const config::DataConfig& data) {
  if (data.source != config::Source::kCsv) return false;
  try {
    return is_one_text(training_source(data)) && !is_sqlite(data.path);
  } catch (const Error&) {
    return false;
  }
}

std::string source_name(const TableSource& source) {
  if (!source.query.empty()) return "the query";
  return source.path == "-" ? "standard input" : source.path;
}

bool is_read_by_duckdb(const TableSource& source) {
  return source_kind(source) != SourceKind::kCsv;
}

bool is_one_text(const TableSource& source) {
  return !is_read_by_duckdb(source) && source_files(source.path).front() == source.path;
}

}  // namespace trainer::data
