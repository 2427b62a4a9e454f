// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "trainer/data/csv.h"
#include "trainer/data/data_file.h"
#include "trainer/data/table.h"

namespace trainer::data {

/// A row that cannot be read as a model needs it.
struct BadRow {
  int64_t line = 0;  // where it begins
  std::string reason;
};

/// A CSV file with the columns that a model was trained on, read a few rows at a time: the memory
/// that it takes does not depend on the size of the file.
class CsvPieces {
 public:
  /// Reads the header. `path` may be "-", the standard input, or a pipe. Throws as read_csv_as().
  CsvPieces(const std::filesystem::path& path, const TrainedColumns& trained,
            const CsvFormat& format);
  /// Of a file of which nothing was read yet.
  CsvPieces(DataFile file, const TrainedColumns& trained, const CsvFormat& format);
  ~CsvPieces();
  CsvPieces(const CsvPieces&) = delete;
  CsvPieces& operator=(const CsvPieces&) = delete;

  /// The names of all columns, in the order of the file.
  std::vector<std::string> names() const;
  /// Those of the ids that are kept, in the order of the trained columns, and of further ones.
  std::vector<std::string> id_names() const;

  /// Puts the next rows, at most `max_rows`, into `table`, which keeps its memory, and returns
  /// whether the file had any; ids as text, in the order of id_names(). Throws as read_csv_as(),
  /// also when the file has no rows at all.
  bool next(Table& table, int64_t max_rows);

  /// The same, but a row that cannot be read is left out and added to `bad`: one with another
  /// number of fields, or with a cell that is not what its column needs. Throws for what leaves it
  /// open where a row ends (a quote) or is no matter of a row.
  bool next(Table& table, int64_t max_rows, std::vector<BadRow>& bad);
  /// Rows that were left out so far because their target is missing.
  int64_t num_without_target() const;

  /// Bytes read so far, of the file as it lies on the disk.
  uint64_t bytes_read() const;
  /// Those of the whole file, 0 where that is not known.
  uint64_t size_hint() const;

 private:
  bool read(Table& table, int64_t max_rows, std::vector<BadRow>* bad);

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace trainer::data
