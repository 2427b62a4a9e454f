// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/core/atomic_file.h"

namespace trainer::apply {

/// A column of a Parquet file, of one of DuckDB's types.
struct ParquetColumn {
  std::string name;
  std::string type;
};

/// A Parquet file that is made of CSV text. The text is collected in a file next to it, so that the
/// memory does not depend on the number of rows.
class ParquetWriter {
 public:
  ParquetWriter(const std::filesystem::path& path, std::vector<ParquetColumn> columns);

  /// Appends lines with commas, the first one of all with the names. An empty cell is missing.
  void write(std::string_view lines) { lines_.write(lines); }

  /// The last call; throws Error.
  void finish();

 private:
  std::string name_;
  std::vector<ParquetColumn> columns_;
  AtomicFile lines_;  // never committed; named as the other one in messages
  AtomicFile file_;
};

}  // namespace trainer::apply
