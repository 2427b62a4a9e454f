// SPDX-License-Identifier: Apache-2.0
// From chunks to the rows of a Table. Features that come as numbers are taken as they are, many at
// once; whatever else is needed of a column comes as text, so that all sources have the same rules
// for targets, times, weights and ids. A column may be read twice: as a feature and as an id.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "trainer/table/source/csv_format.h"
#include "trainer/table/source/table_reader.h"
#include "trainer/table/table.h"

#include "table/source/chunk.h"
#include "table/source/table_builder.h"
#include "table/source/table_header.h"

namespace trainer::data {

/// What a column of the chunks is read for.
struct Reading {
  std::size_t column = 0;  // of the header
  Role role = Role::kSkipped;
  CellType type = CellType::kText;
  std::size_t in_chunk = 0;
  std::size_t index = 0;  // among the features, targets or ids of a row
  TargetCells::Written written = TargetCells::Written::kFloating;  // of targets as numbers
};

/// What is read of a source.
struct ReadingPlan {
  std::vector<Reading> readings;  // targets first, for they decide which rows there are
  std::vector<WantedColumn> wanted;
  std::optional<std::size_t> weight = {};  // column of the chunks with sample weights
};

/// For a source whose columns have the roles of `header`.
ReadingPlan plan_readings(const TableHeader& header, const ChunkSource& source);

/// Whether a row has the weight 0.
bool has_weight_zero(const Chunk& chunk, const ReadingPlan& plan, int64_t row,
                     const CsvFormat& format);

/// Takes the rows of chunks into a table. All arguments must outlive it.
class RowReader {
 public:
  /// `table` has its target names, and floats for features. A row that cannot be read is left out
  /// if `collects_bad`.
  RowReader(TableHeader& header, const ReadingPlan& plan, const CsvFormat& format,
            int64_t max_categories, bool collects_bad, Table& table);

  /// Appends the rows of `chunk`. Throws Error(kData) for the first one that cannot be read.
  void read(const Chunk& chunk);

  /// How many rows there are so far, bad ones too.
  int64_t num_rows() const { return std::ssize(table_.lines); }

  /// Completes the table, and returns the rows that it has left out as bad.
  std::vector<BadRow> finish();

 private:
  struct Problem {
    std::optional<std::size_t> column;  // of the header; nothing for a whole row
    std::string text;
  };

  template <class Take>
  void for_each_row(Take take);
  template <class Take>
  void for_each_cell(const Reading& reading, Take take);
  void choose_rows();
  void add_bad(int64_t row, Problem problem);
  std::size_t read_columns(std::size_t first);
  void read_column(const Reading& reading);
  void read_target(const Reading& reading);
  void read_numbers(const Reading& reading);
  std::size_t read_plain_numbers(std::size_t first);
  void read_odd_cells();
  bool lacks_target(int64_t row) const;
  bool lacks_cell(const Reading& reading, int64_t row) const;
  float* features_of(const Reading& reading);
  std::string text_of(const Problem& problem) const;
  void remove_bad();

  TableHeader& header_;
  const ReadingPlan& plan_;
  const CsvFormat& format_;
  bool collects_bad_;
  Table& table_;
  TableBuilder builder_;
  const Chunk* chunk_ = nullptr;
  std::size_t first_ = 0;            // row of the table that is the first one of the chunk
  std::vector<int64_t> rows_;        // of the chunk that are read
  std::vector<std::size_t> of_odd_;  // [columns of the chunks] the reading of a feature
  std::map<int64_t, Problem> bad_;   // of rows of the table: the leftmost
};

}  // namespace trainer::data
