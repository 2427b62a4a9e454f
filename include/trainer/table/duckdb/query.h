// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Queries to DuckDB (https://duckdb.org), whose library is opened when one is first made.
namespace trainer::duckdb {

/// What a column of a result holds.
enum class ColumnType {
  kNumber,  // whole, decimal or floating
  kBoolean,
  kText,   // also enumerations and UUIDs
  kTime,   // a date, with a time of day or without
  kOther,  // lists, structs, bytes: no single number or text
};

/// A column of a result.
struct ResultColumn {
  std::string name;
  std::string type_name;  // as DuckDB has it: "DECIMAL(9,2)"
  ColumnType type = ColumnType::kOther;
};

/// How the cells of a column are wanted.
enum class CellType { kNumber, kText };

/// A column of a result that is to be read.
struct WantedColumn {
  size_t index = 0;  // among the columns of the result
  CellType type = CellType::kNumber;
};

/// Some rows of a result: the columns that are wanted, in that order. The cells are good as long as
/// the chunk is there.
class Chunk {
 public:
  ~Chunk();
  Chunk(Chunk&& other) noexcept;
  /// What was here is freed with `other`.
  Chunk& operator=(Chunk&& other) noexcept;
  Chunk(const Chunk&) = delete;
  Chunk& operator=(const Chunk&) = delete;

  int64_t num_rows() const { return num_rows_; }

  /// A bit for each row, set where the cell is there; nullptr: all of them are.
  const uint64_t* valid(size_t column) const { return columns_[column].valid; }
  /// Whether the cell is missing.
  bool is_null(size_t column, int64_t row) const {
    const uint64_t* valid = columns_[column].valid;
    constexpr int64_t kBits = 64;
    return valid != nullptr && (valid[row / kBits] >> (row % kBits) & 1U) == 0;
  }
  /// Of a column that is wanted as numbers `[num_rows]`; those that are null mean nothing.
  const double* numbers(size_t column) const {
    return static_cast<const double*>(columns_[column].cells);
  }
  /// Of a column that is wanted as text; empty where it is null.
  std::string_view text(size_t column, int64_t row) const;

 private:
  friend class Query;
  friend class Session;
  struct CellsOfColumn {
    const void* cells = nullptr;
    const uint64_t* valid = nullptr;  // a bit for each row; nullptr: all are
  };
  Chunk(void* handle, size_t num_columns);

  void* handle_ = nullptr;
  int64_t num_rows_ = 0;
  std::vector<CellsOfColumn> columns_;
};

/// What a statement may read.
enum class Reads {
  kAnyFile,
  kNamedFiles  // whose path or pattern stands in quotes in it
};

/// A statement in SQL. It installs and loads nothing, and opens no network connection.
struct Statement {
  std::string name;  // what messages call it
  std::string sql;
  std::string folder = {};  // where relative paths start; empty: the working directory
  bool is_of_user = true;   // so that messages may show the place in it
  Reads reads = Reads::kAnyFile;
};

/// One SELECT, run once. Rows come in an order that the query defines, or that of the files that it
/// reads.
class Query {
 public:
  /// Asks for the columns; reads no rows. Throws Error(kUsage) where DuckDB's library is not there
  /// or too old, and Error(kData) with DuckDB's message.
  explicit Query(Statement select);
  ~Query();
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;

  /// What messages call it.
  const std::string& name() const;
  /// All columns of the result.
  const std::vector<ResultColumn>& columns() const;

  /// Begins to run, for these columns only. Numbers are the nearest double; a boolean is 0 or 1, a
  /// time is the seconds since the beginning of 1970 in UTC. Throws Error(kData).
  void start(const std::vector<WantedColumn>& wanted);

  /// The next rows, in the memory of DuckDB; nothing at the end. Throws Error(kData).
  std::optional<Chunk> next();

  /// What part of the work is done, from 0 to 1; nothing if DuckDB does not know.
  std::optional<double> progress() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Runs one statement, in a database of its own, to its end. Throws as Query does.
void execute(const Statement& statement);

/// Whether DuckDB's library can be opened; the version ("v1.5.6") or why not in `text`.
bool is_available(std::string& text);

/// A text in SQL's single quotes.
std::string quoted_text(std::string_view text);

/// A name in SQL's double quotes.
std::string quoted_name(std::string_view name);

}  // namespace trainer::duckdb
