// SPDX-License-Identifier: Apache-2.0
// Chunks of DuckDB's columns become rows of a table, one column after the other. A number comes as
// a double; whatever else is needed of a column comes as text, so that all sources have the same
// rules for targets, times, weights and ids. A column may be read twice: as a feature and as an id.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "trainer/data/csv_format.h"
#include "trainer/data/table.h"
#include "trainer/duckdb/query.h"

#include "data/table_builder.h"
#include "data/table_header.h"

namespace trainer::data {

/// What a column of the chunks is read for.
struct Reading {
  enum class Use { kFeature, kTarget, kSplit, kGroup, kWeight, kId, kTime };

  size_t column = 0;  // of the header
  Use use = Use::kFeature;
  duckdb::CellType type = duckdb::CellType::kText;
  size_t place = 0;  // among the features, targets or ids of a row
  TargetCells::Written written = TargetCells::Written::kFloating;  // of targets as numbers
};

/// What to read of a result with those columns, in the order of the chunks; targets first, for they
/// decide which rows there are.
std::vector<Reading> plan_readings(const TableHeader& header,
                                   const std::vector<duckdb::ResultColumn>& results);

/// Which of the readings is that of sample weights.
std::optional<size_t> weight_reading(const std::vector<Reading>& readings);

/// Whether a row has the weight 0, which the chunk has as text in the column `in_chunk`.
bool has_weight_zero(const duckdb::Chunk& chunk, size_t in_chunk, int64_t row,
                     const CsvFormat& format);

/// Rows of a table that cannot be read as a model needs them: the first problem of each.
using BadCells = std::map<int64_t, CellError>;

/// Takes the cells of chunks into a table. All arguments must outlive it.
class ChunkReader {
 public:
  ChunkReader(const TableHeader& header, const std::vector<Reading>& readings,
              const CsvFormat& format, TableBuilder& builder, Table& table)
      : header_(header), readings_(readings), format_(format), builder_(builder), table_(table) {}

  /// Appends rows `[begin, end)` of `chunk`, the first of which is the `first_number`-th of all.
  void read(const duckdb::Chunk& chunk, int64_t begin, int64_t end, int64_t first_number);

  /// Of all that was read.
  const BadCells& bad() const { return bad_; }

  /// Takes the bad rows out of the table.
  void remove_bad();

 private:
  template <class Take>
  void for_each_row(Take take);
  template <class Take>
  void for_each_cell(const Reading& reading, size_t in_chunk, Take take);
  void choose_rows(int64_t begin, int64_t end, int64_t first_number);
  void read_column(const Reading& reading, size_t in_chunk);
  void read_target(const Reading& reading, size_t in_chunk);
  void read_feature(const Reading& reading, size_t in_chunk);
  std::span<const double> plain_numbers(const Reading& reading, size_t in_chunk) const;
  bool lacks_cell(size_t in_chunk, int64_t row) const;
  bool lacks_target(int64_t row) const;

  const TableHeader& header_;
  const std::vector<Reading>& readings_;
  const CsvFormat& format_;
  TableBuilder& builder_;
  Table& table_;
  const duckdb::Chunk* chunk_ = nullptr;
  size_t first_ = 0;           // row of the table
  std::vector<int64_t> rows_;  // of the chunk that are read
  BadCells bad_;
};

}  // namespace trainer::data
