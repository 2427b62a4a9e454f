// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "trainer/data/read_table.h"
#include "trainer/data/table.h"
#include "trainer/data/table_source.h"

namespace trainer::data {

class DataFile;
class TableReader;
struct CsvPiece;

/// A row that cannot be read as a model needs it.
struct BadRow {
  int64_t line = 0;  // where it begins, or the number of the row
  std::string reason;
};

/// Some rows of a table.
struct TablePiece {
  bool collects_bad = false;  // given: as TablePieces::next() with `bad`, else as without
  Table table = {};
  std::vector<BadRow> bad = {};
  std::shared_ptr<CsvPiece> unread = {};  // between take() and read()
};

/// A table with the columns that a model was trained on, read a few rows at a time: the memory that
/// it takes does not depend on the size of the table.
class TablePieces {
 public:
  /// Reads the header; the standard input and pipes too. Throws as read_table_as().
  TablePieces(const TableSource& source, const TrainedColumns& trained);
  /// Of a CSV file of which nothing was read yet.
  TablePieces(DataFile file, const CsvFormat& format, const TrainedColumns& trained);
  ~TablePieces();
  TablePieces(const TablePieces&) = delete;
  TablePieces& operator=(const TablePieces&) = delete;

  /// The names of all columns, in the order of the table.
  std::vector<std::string> names() const;
  /// Those of the ids that are kept, in the order of the trained columns, and of further ones.
  std::vector<std::string> id_names() const;

  /// Their types in SQL, if DuckDB reads the table; else none.
  std::vector<std::string> id_types() const;

  /// Puts the next rows, at most `max_rows`, into `table`, which keeps its memory, and returns
  /// whether there were any; ids as text, in the order of id_names(). Throws as read_table_as(),
  /// also when the table has no rows at all.
  bool next(Table& table, int64_t max_rows);

  /// The same, but a row that cannot be read is left out and added to `bad`: one with another
  /// number of fields, or with a cell that is not what its column needs. Throws for what leaves it
  /// open where a row ends (a quote) or is no matter of a row.
  bool next(Table& table, int64_t max_rows, std::vector<BadRow>& bad);

  /// As next() in two steps, of which the second one takes most of the time where the table is CSV
  /// text. Finds the next rows, at most `max_rows`; false where there are no more. Errors in cells
  /// are thrown by either step; rows before those with an error that take() throws are in the
  /// pieces before.
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

  /// Bytes read so far, of the file as it lies on the disk.
  uint64_t bytes_read() const;
  /// Those of the whole file, 0 where that is not known.
  uint64_t size_hint() const;

 private:
  std::unique_ptr<TableReader> reader_;
};

}  // namespace trainer::data
