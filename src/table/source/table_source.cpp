// SPDX-License-Identifier: Apache-2.0
#include "trainer/table/source/table_source.h"

#include <filesystem>
#include <string>
#include <system_error>

#include "trainer/base/error.h"
#include "trainer/config/data_config.h"
#include "trainer/table/source/table_reader.h"

#include "table/load_table.h"
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

uint64_t file_bytes(const config::DataConfig& data) {
  uint64_t num_bytes = 0;
  for (const std::string& file : source_files(data.path)) {
    std::error_code ignored;  // the reader has the words for it
    if (!std::filesystem::is_regular_file(file, ignored)) continue;
    const uintmax_t size = std::filesystem::file_size(file, ignored);
    if (!ignored) num_bytes += size;
  }
  return num_bytes;
}

TableSize table_size(const config::DataConfig& data) {
  const TableReader reader(training_source(data), training_columns(data, /*trained=*/nullptr));
  TableSize size{.file_bytes = file_bytes(data), .num_rows = reader.num_rows_hint()};
  size.num_features = reader.num_features();
  // Features, the targets, and the number of the row (Dataset).
  const auto num_floats = size.num_features + std::ssize(data.target);
  size.encoded_bytes =
      static_cast<uint64_t>(size.num_rows) *
      static_cast<uint64_t>(num_floats * int64_t{sizeof(float)} + int64_t{sizeof(int64_t)});
  return size;
}

}  // namespace trainer::data
