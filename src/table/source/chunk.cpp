// SPDX-License-Identifier: Apache-2.0
#include "table/source/chunk.h"

#include <fmt/format.h>

#include "table/source/csv_source.h"
#include "table/source/query_source.h"

namespace trainer::data {

std::string Chunk::location(int64_t row) const {
  const int64_t line = lines[static_cast<std::size_t>(row)];
  return fmt::format("{}{}{}", file, has_lines ? ":" : ": row ", line);
}

std::unique_ptr<ChunkSource> open_source(const TableSource& source, DataFile::Kind kind) {
  if (is_read_by_duckdb(source)) return open_query(source);
  if (is_one_text(source)) return open_csv(DataFile(source.path, kind), source.format);
  return open_csv(source.path, source_files(source.path), source.format);
}

std::unique_ptr<ChunkSource> open_source(DataFile file, const CsvFormat& format) {
  return open_csv(std::move(file), format);
}

std::vector<std::string> column_names(const ChunkSource& source) {
  std::vector<std::string> names;
  names.reserve(source.columns().size());
  for (const SourceColumn& column : source.columns()) names.push_back(column.name);
  return names;
}

}  // namespace trainer::data
