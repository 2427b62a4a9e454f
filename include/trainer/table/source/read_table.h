// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trainer/config/types.h"
#include "trainer/table/schema/column.h"
#include "trainer/table/source/table_source.h"
#include "trainer/table/table.h"

namespace trainer::data {

/// What the columns of a table are for.
struct ColumnOptions {
  std::vector<std::string> targets;       // columns to predict; must be in the header
  std::vector<std::string> ignored = {};  // columns left out: names, or patterns with * and ?
  std::vector<std::string> id = {};       // names or patterns; so are the next two
  std::vector<std::string> numeric = {};
  std::vector<std::string> categorical = {};
  /// Different texts of a column that no list names: with more it is left out. 0: see read_table.
  int64_t max_categories = 0;
  config::Imputation fill = config::Imputation::kMean;  // kError: a missing number is an error
  std::string split_column = {};
  std::string group = {};
  std::string weight = {};
  std::string time = {};  // of no other role, or numeric, or an id
  bool drop_rows_without_target = false;
  std::vector<config::DatePart> dates = {};  // what becomes of dates; none: they are text
  config::DateOrder date_order = config::DateOrder::kAuto;  // kAuto: the cells decide
  bool expects_labels = false;  // of the target, however many (TargetCells)
  /// Columns whose offsets (Scaling) and parts of dates are taken; none: the first rows decide.
  const std::vector<Column>* with_offsets = nullptr;
};

/// Reads a whole table. CSV text has a header (RFC 4180: quoted fields with delimiters, doubled
/// quotes and line breaks inside; LF, CRLF or CR; an UTF-8 byte-order mark is skipped). Blank lines
/// are skipped, and so are spaces around a field outside of quotes. A column that no option names
/// is numeric when at least half of the values in its first rows are numbers, a date when
/// most of them are (data.date_order), else categorical; a date becomes a numeric column for
/// each part. One with too many or very long texts, or without any value, is left out. Of what
/// DuckDB reads, the types of the columns decide; booleans are categories, and what is neither a
/// number nor a text is left out. Numbers are read as double and stored as float32, less the offset
/// of their column (Scaling). Throws Error(kData) with `file:line: column "name": ...`: missing or
/// unreadable file, a folder, an empty file, no data rows, a NUL byte, only one column, duplicate
/// or empty column names, a named column that is not there (with the nearest name) or has two
/// roles, a pattern that fits no column, no feature left, a row with another number of fields, an
/// unclosed quote, text after a quote, text or a non-finite value in a numeric column, bytes that
/// are no UTF-8 in names and categories, a category of more than 1,000 bytes, a missing target,
/// split, group or weight, an unknown split, a negative weight, a time that is neither a number nor
/// a date or is of another kind than the one before. The line is where the row begins.
Table read_table(const TableSource& source, const ColumnOptions& options);

/// The columns that a model was trained on.
struct TrainedColumns {
  std::span<const Column> columns;       // all but the targets
  std::span<const std::string> targets;  // to be read as well
  std::string weight = {};               // the column of weights; none: empty
  bool may_lack_weight = false;          // without the column the table has no weights
  enum class Ids { kLeft, kKept } ids = Ids::kLeft;
  /// Further columns that are kept as ids are, behind them: names, or patterns with * and ?.
  std::span<const std::string> kept = {};
  std::string delimiter_option = "data.delimiter: ";  // what a message says how to choose it
  bool drop_rows_without_target = false;
};

/// Reads another table with the columns that a model was trained on, in any order; further columns
/// are left out. `dictionaries` of the result are as they stand in this table. Throws as read_table
/// does, and for columns of features, targets and (unless they may lack) weights that are not
/// there, and for a name or pattern of kept columns that fits none.
Table read_table_as(const TableSource& source, const TrainedColumns& trained);

}  // namespace trainer::data
