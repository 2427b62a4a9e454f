// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "trainer/config/types.h"
#include "trainer/table/schema/column.h"
#include "trainer/table/source/data_file.h"
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

/// A row that cannot be read as a model needs it.
struct BadRow {
  int64_t line = 0;  // where it begins, or the number of the row
  std::string reason;
};

/// Some rows of a table.
struct TablePiece {
  bool collects_bad = false;  // given: bad rows are left out and added to `bad`
  Table table = {};
  std::vector<BadRow> bad = {};
  struct Unread;
  std::shared_ptr<Unread> unread = {};  // between take() and read()
};

/// A table that is read a few rows at a time: the memory that it takes does not depend on the size
/// of the table.
class TableReader {
 public:
  /// Reads the header and decides by the first rows what the columns are. Throws as read_table().
  TableReader(const TableSource& source, const ColumnOptions& options);
  /// With the columns that a model was trained on. Reads the header; of the standard input and
  /// pipes too, if `kind` allows them. Throws as read_table_as().
  TableReader(const TableSource& source, const TrainedColumns& trained,
              DataFile::Kind kind = DataFile::Kind::kAny);
  /// Of a CSV file of which nothing was read yet.
  TableReader(DataFile file, const CsvFormat& format, const TrainedColumns& trained);
  ~TableReader();
  TableReader(const TableReader&) = delete;
  TableReader& operator=(const TableReader&) = delete;

  /// The names of all columns, in the order of the table.
  std::vector<std::string> names() const;
  /// Those of the ids that are kept, in the order of the trained columns, and of further ones.
  std::vector<std::string> id_names() const;
  /// Their types in SQL, if DuckDB reads the table; else none.
  std::vector<std::string> id_types() const;
  /// Features of a row, of which a column of texts is one.
  int64_t num_features() const;

  /// All rows that are left. Throws as read_table().
  Table read_all();

  /// Puts the next rows, at most `max_rows`, into `table`, which keeps its memory, and returns
  /// whether there were any; ids as text, in the order of id_names(). Throws as read_table_as(),
  /// also when the table has no rows at all.
  bool next(Table& table, int64_t max_rows);

  /// The same, but a row that cannot be read is left out and added to `bad`: one with another
  /// number of fields, or with a cell that is not what its column needs. Throws for what leaves it
  /// open where a row ends (a quote) or is no matter of a row.
  bool next(Table& table, int64_t max_rows, std::vector<BadRow>& bad);

  /// As next() in two steps, of which the second one takes most of the time. Finds the next rows,
  /// at most `max_rows`; false where there are no more. Errors in cells are thrown by read(); rows
  /// before those with an error that take() throws are in the pieces before.
  bool take(int64_t max_rows, TablePiece& piece);
  /// Reads them. Several threads may call it concurrently, each with a piece of its own. There may
  /// be none left, good or bad.
  void read(TablePiece& piece);
  /// After all pieces: throws what next() throws for a table without rows.
  void require_rows() const;

  /// Rows that were left out so far because their target is missing.
  int64_t num_without_target() const;
  /// Rows that were left out so far because their weight is 0.
  int64_t num_weightless() const;

  /// Bytes read so far, of the files as they lie on the disk.
  uint64_t bytes_read() const;
  /// Those of all files, 0 where that is not known.
  uint64_t size_hint() const;
  /// About how many rows there are, 0 where that is not known.
  int64_t num_rows_hint() const;

 private:
  struct State;
  bool next(Table& table, int64_t max_rows, std::vector<BadRow>* bad);
  void clear(Table& table) const;

  std::unique_ptr<State> state_;
};

}  // namespace trainer::data
