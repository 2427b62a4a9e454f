// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "trainer/table/source/data_file.h"
#include "trainer/table/source/read_table.h"
#include "trainer/table/source/table_source.h"
#include "trainer/table/table.h"

namespace trainer::data {

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
