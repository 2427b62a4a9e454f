// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "trainer/core/error.h"
#include "trainer/data/table.h"

#include "data/csv_cursor.h"
#include "data/table_builder.h"
#include "data/table_header.h"

namespace trainer::data {

/// Whether the row at whose beginning the cursor is has the weight 0, in the column `weight`. The
/// cursor stays there.
bool has_weight_zero(CsvCursor& cursor, size_t weight);

/// Reads rows of a CSV file into a table.
class RowReader {
 public:
  /// `table` has its target names, and floats for features.
  RowReader(CsvCursor& cursor, TableHeader& header, int64_t max_categories, Table& table);

  /// The row at whose beginning the cursor is, as that of `line`; or none if it is to be dropped.
  /// Throws Error(kData), see read_table.
  void read_row(int64_t line);

  /// Does so, or leaves the row out and returns the error.
  std::optional<Error> try_row(int64_t line);

  /// Gives the table what is known only now.
  void finish() { builder_.finish(); }

 private:
  void read_all_cells();
  size_t read_cells(size_t column);
  size_t read_numbers(size_t column);
  bool lacks_target();
  int64_t* left_out();
  std::string_view next_cell(size_t column);
  [[noreturn]] void fail(const CellError& error);
  void fail_unless_well_formed();

  CsvCursor& cursor_;
  TableHeader& header_;
  Table& table_;
  TableBuilder builder_;
  size_t num_targets_;
  std::optional<size_t> weight_;  // column
  Array<float>& features_;
  std::vector<double> numbers_;  // of cells that follow each other
};

}  // namespace trainer::data
