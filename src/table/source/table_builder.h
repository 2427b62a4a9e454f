// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trainer/table/source/csv_format.h"
#include "trainer/table/source/string_interner.h"
#include "trainer/table/table.h"

#include "table/source/table_header.h"
#include "table/source/time_text.h"

namespace trainer::data {

/// A cell that is not what its column needs. Who reads the cells knows where it is.
struct CellError : std::exception {
  CellError(size_t column_index, std::string what_is_wrong)
      : column(column_index), problem(std::move(what_is_wrong)) {}
  const char* what() const noexcept override { return problem.c_str(); }

  size_t column;  // of the header
  std::string problem;
};

/// What the cells of a table mean by the roles of their columns, wherever they are read from. It
/// keeps what is known of a column so far, and gives it to the table at the end. All functions that
/// take a cell throw CellError.
class TableBuilder {
 public:
  /// All of them must outlive it. `table` has its target names, and floats for features.
  TableBuilder(TableHeader& header, const CsvFormat& format, int64_t max_categories, Table& table);

  /// Of a number: less the offset of the column; NaN where it stands for a missing value.
  float number(size_t column, double value) {
    const auto number = static_cast<float>(value - header_.offsets[column]);
    if (std::isfinite(number) && !format_.missing.contains(value)) return number;
    return odd_number(column, value);
  }
  float number(size_t column, std::string_view field);
  /// The same for `values` that follow each other, in every width-th of `cells`; false if one of
  /// them may mean something else, so that number() is to be asked of each.
  bool numbers(size_t column, std::span<const double> values, float* cells, size_t width) const;
  float missing_number(size_t column);
  /// Writes the parts of a date; NaN where it is missing.
  void date(size_t column, std::string_view field, float* cells);
  void date(size_t column, double seconds, float* cells);
  /// Of a text: its index in the dictionary, NaN where it is missing.
  float category(size_t column, std::string_view field);
  /// Sets a cell of the table's targets.
  void target(size_t column, std::string_view field, size_t cell);
  void target(size_t column, double value, TargetCells::Written written, size_t cell);
  Split split(size_t column, std::string_view field) const;
  int64_t group(size_t column, std::string_view field);
  float weight(size_t column, std::string_view field) const;
  /// Seconds or a plain number, one kind in all rows.
  double time(size_t column, std::string_view field);

  /// Gives the table what is known only now. It has all rows but their number.
  void finish();

 private:
  float odd_number(size_t column, double value);
  void add_parts(size_t column);
  void leave_out(size_t column, std::string reason);
  void leave_out_names(size_t column);
  void require_present(size_t column, std::string_view field, std::string_view what,
                       std::string_view fix) const;

  TableHeader& header_;
  const CsvFormat& format_;
  size_t max_categories_;
  Table& table_;
  std::vector<StringInterner> interners_;  // [columns]
  std::vector<int64_t> groups_;            // of each text of the group column
  std::unordered_map<std::string, int64_t> group_of_value_;
  std::vector<int64_t> num_missing_;   // [columns]
  std::optional<TimeKind> time_kind_;  // of the rows so far
};

}  // namespace trainer::data
