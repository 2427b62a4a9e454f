// SPDX-License-Identifier: Apache-2.0
#include "apply/parquet_writer.h"

#include <utility>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/table/duckdb/query.h"

namespace trainer::apply {

ParquetWriter::ParquetWriter(const std::filesystem::path& path, std::vector<ParquetColumn> columns)
    : name_(path.string()), columns_(std::move(columns)), lines_(path), file_(path) {}

void ParquetWriter::finish() {
  std::string texts;
  std::string values;
  for (const ParquetColumn& column : columns_) {
    const char* comma = texts.empty() ? "" : ", ";
    texts += fmt::format("{}{}: 'VARCHAR'", comma, duckdb::quoted_text(column.name));
    const std::string name = duckdb::quoted_name(column.name);
    values += fmt::format("{}CAST({} AS {}) AS {}", comma, name, column.type, name);
  }
  try {
    duckdb::execute(
        {.name = "cannot write " + name_,
         .sql = fmt::format(
             "COPY (SELECT {} FROM read_csv({}, auto_detect = false, header = true, delim = ',', "
             "quote = '\"', escape = '\"', nullstr = '', columns = {{{}}})) TO {} (FORMAT parquet, "
             "COMPRESSION zstd, USE_TMP_FILE false)",
             values, duckdb::quoted_text(lines_.flushed().string()), texts,
             duckdb::quoted_text(file_.flushed().string())),
         .is_of_user = false});
  } catch (const Error& error) {
    // The rows come from this program, so an error of DuckDB is about the file and not the data.
    if (error.kind() != ErrorKind::kData) throw;
    throw Error(ErrorKind::kFileSystem, error.what());
  }
  file_.commit();
}

}  // namespace trainer::apply
