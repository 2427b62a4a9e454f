// SPDX-License-Identifier: Apache-2.0
// The one way in for tables. A source (CSV text, DuckDB) gives its rows in chunks of some 2,000, by
// column, each cell as a number or as a text; all that is decided about cells (types, roles,
// missing values, categories, dates) is decided behind it, once, in table_sample.cpp and
// row_reader.cpp. A new kind of table is a new ChunkSource and a line in open_source().
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainer/table/duckdb/query.h"
#include "trainer/table/source/csv_format.h"
#include "trainer/table/source/data_file.h"
#include "trainer/table/source/table_source.h"

namespace trainer::data {

using duckdb::CellType;
using duckdb::WantedColumn;

/// The cells of a column, one of each row of a chunk.
struct ChunkColumn {
  CellType type = CellType::kText;
  /// kNumber: that of a row is numbers[row * stride].
  const double* numbers = nullptr;
  std::size_t stride = 1;
  /// kNumber: a bit for each row, set where it has a number; nullptr: all rows have one.
  const uint64_t* valid = nullptr;
  int64_t first_bit = 0;  // that of the first row
  /// kText: `[num_rows]`, empty where there is none.
  std::vector<std::string_view> texts = {};

  bool has_number(int64_t row) const {
    constexpr int64_t kBits = 64;
    const int64_t bit = first_bit + row;
    return valid == nullptr || (valid[bit / kBits] >> (bit % kBits) & 1U) != 0;
  }
  double number(int64_t row) const { return numbers[static_cast<std::size_t>(row) * stride]; }
};

/// A cell of CSV text that is wanted as a number and is none, or may stand for a missing value.
struct OddCell {
  int64_t row = 0;
  std::size_t column = 0;  // of the chunk
  std::string_view text;
};

/// Some rows of a table. Texts and numbers are good until the next chunk of the same source.
struct Chunk {
  int64_t num_rows = 0;
  std::vector<ChunkColumn> columns;  // those that are wanted, in that order
  std::vector<OddCell> odd;          // in the order of the rows, then of the columns in the table
  /// Numbers are those of plain text: none stands for a missing value, and all fit float32.
  bool has_plain_numbers = false;
  /// Rows that have another number of cells than the header, with the message; none of their cells
  /// mean anything.
  std::vector<std::pair<int64_t, std::string>> malformed;

  std::string file;             // for messages
  bool has_lines = false;       // rows are told by their lines, else by their numbers in the file
  std::vector<int64_t> lines;   // [num_rows] on which a row begins, or its number from 1 on
  int64_t first_number = 1;     // of the first row, from 1 on, over all files
  std::vector<double> numbers;  // memory for those of text

  /// "file:line", or "file: row number".
  std::string location(int64_t row) const;
};

/// What is known of a column before its cells are read.
struct SourceColumn {
  std::string name;
  /// What DuckDB says; nothing of text, whose cells decide.
  std::optional<duckdb::ColumnType> type = {};
  std::string type_name = {};
};

/// Rows that are read once from first to last.
class ChunkStream {
 public:
  virtual ~ChunkStream() = default;
  /// Fills `chunk`, which keeps its memory, with the next rows, at most `max_rows`; false at the
  /// end. Throws Error(kData) for what leaves open where a row ends, after all rows before it.
  virtual bool next(Chunk& chunk, int64_t max_rows) = 0;
};

/// A table, behind its header.
class ChunkSource : public ChunkStream {
 public:
  /// What messages call it.
  virtual const std::string& name() const = 0;
  /// Where the header is, for messages: "file:line".
  virtual const std::string& header_location() const = 0;
  virtual const std::vector<SourceColumn>& columns() const = 0;
  /// How cells are written that come as text.
  virtual const CsvFormat& format() const = 0;
  /// Whether columns have types; else their cells decide what they are.
  virtual bool has_types() const = 0;
  /// Whether people can find a row by its line: it is one file of text.
  virtual bool has_lines() const = 0;

  /// Begins with the first row and gives these columns from now on. A sample is read to be started
  /// once more: of what DuckDB gives, its rows stay in memory.
  enum class Pass { kSample, kAll };
  virtual void start(const std::vector<WantedColumn>& wanted, Pass pass) = 0;

  /// Takes the next rows, at most `max_rows`, without looking at their cells, which a thread of its
  /// own may read then; false at the end. `rows` may be those of an earlier call, whose memory is
  /// used again. Throws as next().
  virtual bool take(int64_t max_rows, std::shared_ptr<ChunkStream>& rows) = 0;

  /// Bytes of the files read so far.
  virtual uint64_t bytes_read() const = 0;
  /// Those in all, 0 where that is not known.
  virtual uint64_t size_hint() const = 0;
  /// About how many rows there are, 0 where that is not known.
  virtual int64_t num_rows_hint() const = 0;
  /// Of all that was read.
  virtual std::vector<Fingerprint> fingerprints() = 0;
};

/// Reads the header. Text of one file may be a pipe if `kind` allows it. Throws Error(kData), and
/// Error(kUsage) where DuckDB is needed and missing.
std::unique_ptr<ChunkSource> open_source(const TableSource& source,
                                         DataFile::Kind kind = DataFile::Kind::kRegular);
/// Of a CSV file of which nothing was read yet.
std::unique_ptr<ChunkSource> open_source(DataFile file, const CsvFormat& format);

/// The names of all columns.
std::vector<std::string> column_names(const ChunkSource& source);

}  // namespace trainer::data
