// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/base/io/atomic_file.h"

namespace trainer::apply {

/// The name of a column of a Parquet file, and its type in DuckDB's SQL.
struct ParquetColumn {
  std::string name;
  std::string type;
};

/// Writes a Parquet file from CSV text. The text is collected in a temporary file beside it, so
/// that the memory does not depend on the number of rows.
class ParquetWriter {
 public:
  ParquetWriter(const std::filesystem::path& path, std::vector<ParquetColumn> columns);

  /// Appends lines of CSV with commas; the very first line has the names. An empty cell is a null.
  void write(std::string_view lines) { lines_.write(lines); }

  /// Converts the text to the Parquet file and moves it into place. Must be the last call; throws
  /// Error.
  void finish();

 private:
  std::string name_;
  std::vector<ParquetColumn> columns_;
  AtomicFile lines_;  // temporary, never committed; has the path of file_ so that messages name it
  AtomicFile file_;
};

}  // namespace trainer::apply
