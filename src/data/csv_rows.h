// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/core/error.h"
#include "trainer/data/table.h"

#include "data/csv_cursor.h"
#include "data/csv_header.h"
#include "data/string_interner.h"
#include "data/time_text.h"

namespace trainer::data {

/// Reads rows into a table.
class RowReader {
 public:
  /// `table` has its target names, and floats for features.
  RowReader(CsvCursor& cursor, CsvHeader& header, int64_t max_categories, Table& table);

  /// The row at whose beginning the cursor is, or none if it is to be dropped. Throws Error(kData),
  /// see read_csv.
  void read_row();

  /// Does so, or leaves the row out and returns the error.
  std::optional<Error> try_row();

  /// Gives the table what is known only now.
  void finish();

 private:
  size_t read_cells(size_t column);
  size_t read_numbers(size_t column);
  float next_number(size_t column);
  float next_text(size_t column);
  void leave_out(size_t column, std::string reason);
  bool lacks_target();
  void leave_out_names(size_t column);
  std::string_view next_cell(size_t column);
  std::string_view next_required(size_t column, std::string_view what,
                                 std::string_view fix = "fill it in or remove the row");
  std::string next_target(size_t column);
  void add_time(size_t column, std::string_view field);
  Split next_split(size_t column);
  float next_weight(size_t column);

  std::string location() const;
  [[noreturn]] void fail_for_length(size_t column, std::string_view field);
  [[noreturn]] void fail(size_t column, const std::string& problem);
  void fail_unless_well_formed();

  CsvCursor& cursor_;
  CsvHeader& header_;
  size_t max_categories_;
  Table& table_;
  size_t num_targets_;
  std::vector<float>& features_;
  std::vector<double> numbers_;            // of cells that follow each other
  std::vector<StringInterner> interners_;  // [columns]
  std::vector<int64_t> num_missing_;       // [columns]
  std::optional<TimeKind> time_kind_;      // of the rows so far
};

}  // namespace trainer::data
