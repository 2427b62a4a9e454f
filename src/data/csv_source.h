// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trainer/data/csv_format.h"
#include "trainer/data/data_file.h"

#include "data/csv_cursor.h"
#include "data/csv_text.h"

namespace trainer::data {

/// Rows of a CSV file that nobody has read yet.
struct CsvPiece {
  TextOrigin origin;
  CsvFormat format;
  CsvText text;
  int64_t first_number = 1;  // of the first row, counted from 1 over all files
};

/// One CSV file, or several with the same header, and the walk over them.
class CsvSource {
 public:
  /// `name` is what messages call all of them.
  CsvSource(std::string name, std::vector<std::string> files, const CsvFormat& format);
  CsvSource(DataFile file, const CsvFormat& format);
  ~CsvSource() = default;
  CsvSource(const CsvSource&) = delete;  // its parts refer to each other
  CsvSource& operator=(const CsvSource&) = delete;
  CsvSource(CsvSource&&) = delete;
  CsvSource& operator=(CsvSource&&) = delete;

  const std::string& name() const { return name_; }
  /// Whether rows are told by their lines: not those of a database, and not those of a folder or
  /// pattern, of however many files.
  bool has_lines() const { return is_one_file() && is_text(); }
  /// Not a database.
  bool is_text() const { return file_->has_lines(); }

  /// Goes to the header and returns its location, "file:line". Throws Error(kData) for an empty
  /// file.
  std::string find_header();

  /// The names of the columns, from the header at `location`. Throws Error(kData), see read_table.
  const std::vector<std::string>& read_names(const std::string& location);

  /// Goes to the next row behind the header, in the next file where one ends; false at the end.
  /// Throws Error(kData) for a file with other columns.
  bool begin_row() { return cursor_->begin_row() || begin_row_of_next(); }

  /// Takes rows of one file, from the one on that begin_row() has found; says how many.
  int64_t take_rows(int64_t max_rows, CsvPiece& piece);

  /// At its row. Always the same object.
  CsvCursor& cursor() { return *cursor_; }

  /// Of all files.
  uint64_t bytes_read() const;
  uint64_t size_hint() const;
  /// About as many rows as there are, if all lines are as long as the first ones, and each of
  /// `num_columns` cells takes a byte.
  size_t num_rows_hint(size_t num_columns) const;
  std::vector<Fingerprint> fingerprints();

 private:
  bool is_one_file() const { return files_.size() == 1 && files_.front() == name_; }
  void open(DataFile file);
  void open_next();
  bool begin_row_of_next();
  void require_same_names(const std::string& location, const std::vector<std::string>& expected,
                          const std::vector<std::string>& names) const;

  std::string name_;
  CsvFormat format_;
  std::vector<std::string> files_;
  size_t num_opened_ = 0;
  std::optional<DataFile> file_;
  std::optional<CsvText> text_;
  std::optional<CsvCursor> cursor_;
  std::vector<std::string> names_;
  std::vector<Fingerprint> fingerprints_;  // of those before it
};

}  // namespace trainer::data
