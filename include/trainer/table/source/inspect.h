// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "trainer/config/data_config.h"
#include "trainer/table/source/table_source.h"

namespace trainer::data {

/// What the cells of one column of a file are, all of them; nothing is decided.
struct ColumnFacts {
  std::string name;
  int64_t num_missing = 0;  // see is_missing()
  /// How they are written with their counts, but for empty cells; the first kMaxMissingTexts.
  std::vector<std::pair<std::string, int64_t>> missing_texts = {};
  int64_t num_numbers = 0;      // finite ones
  int64_t num_texts = 0;        // all others
  int64_t num_dates = 0;        // texts that are dates in the order that most of them have
  bool has_open_dates = false;  // day and month of all dates may be exchanged
  bool is_whole = true;         // every number is
  bool is_sequential = true;    // every number is one more than that in the row before
  double min = 0;               // of the numbers
  double max = 0;
  /// How many different texts and whole numbers there are, kMaxDistinct at most; 0 where a number
  /// has a fraction: such numbers are not counted.
  int64_t num_distinct = 0;
  bool has_repeats = false;  // of the first kMaxDistinct
  /// The different ones with their counts in the order in which they come, if they are at most
  /// kMaxLabels; else empty.
  std::vector<std::pair<std::string, int64_t>> labels;
  std::string first_value;       // as it is written
  std::string first_non_number;  // the first value that is no number, and no date if others are
  int64_t first_non_number_line = 0;  // where its row begins
  std::string without_commas;   // how to write `first_non_number` if it is a number with commas
  int64_t num_with_commas = 0;  // texts that are such numbers
  std::string unit;             // see Column::unit; of the first value that has one
  int64_t num_with_unit = 0;    // texts that are numbers with it
  std::string unusable_type;    // of a column that has no single numbers or texts (DuckDB); then
                                // nothing else is known of it
  /// The different texts that are neither numbers, with a unit or without, nor dates (unless these
  /// are few) with their counts, if they are at most kMaxOddTexts; else empty.
  std::vector<std::pair<std::string, int64_t>> odd_texts;
  int64_t num_min = 0;  // numbers that are `min`
  double next_min = 0;  // the smallest of all others

  int64_t num_values() const { return num_numbers + num_texts; }
};

inline constexpr int64_t kMaxDistinct = 10'000;
inline constexpr int64_t kMaxLabels = 1'000;
inline constexpr int64_t kMaxOddTexts = 4;
inline constexpr size_t kMaxMissingTexts = 8;

/// What is known of a table before it is read.
struct InspectOptions {
  std::string delimiter = "auto";                                      // as data.delimiter
  std::string decimal = "auto";                                        // or as data.decimal
  std::vector<std::string> missing = config::default_missing_texts();  // as data.missing
};

/// What inspect_table() finds in a file.
struct TableFacts {
  std::string file;       // the path, or what messages call the table
  std::string query;      // that gives the table; empty: the file
  bool has_lines = true;  // else it is no text, and lines are the numbers of the rows
  char delimiter = ',';
  char decimal = '.';
  char thousands = '\0';
  std::vector<std::string> missing;  // that of the options
  int64_t num_rows = 0;
  std::vector<ColumnFacts> columns;
};

/// Reads a whole table of an unknown kind: what DuckDB reads, or CSV text. The delimiter of that is
/// that of the options, else the comma, semicolon, tab or vertical bar that gives the most fields,
/// the same number in each of the first rows; where that is open, what csv_delimiter() says. The
/// decimal mark is a comma where the delimiter is none, some numbers can only be meant so ("39,1"),
/// and none has a decimal point. A mark of thousands is one with which all values of a column are
/// numbers, some of which can only be meant so ("1,325.26"). Throws Error(kData) as read_table does
/// for a file that is no table.
TableFacts inspect_table(const TableSource& source, const InspectOptions& options = {});

/// Why a column of that type of DuckDB's is left out.
std::string unusable_reason(const std::string& type_name);

/// The names of its columns, from the header alone. Throws as inspect_table().
std::vector<std::string> column_names(const TableSource& source,
                                      const InspectOptions& options = {});

}  // namespace trainer::data
