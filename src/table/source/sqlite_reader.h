// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace trainer::data {

/// How many bytes tell a SQLite database.
inline constexpr size_t kSqliteBegin = 16;

/// Whether these are the first bytes of a SQLite database (https://www.sqlite.org/fileformat.html).
bool begins_as_sqlite(std::span<const std::byte> first);

/// Whether the file is one; not if it cannot be read.
bool is_sqlite(const std::filesystem::path& file);

/// The one table or view of a SQLite database as CSV text: numbers in as many digits as they need,
/// NULL as an empty field, bytes as SQLite's X'0AFF'. The text begins with `sep=,` and the header.
class SqliteReader {
 public:
  /// Throws Error(kData) for a file that SQLite cannot read, for changes that are not in the file
  /// yet, for none or several tables, and where this program was built without SQLite.
  explicit SqliteReader(std::string path);

  /// Fills `bytes` and returns how many there are; fewer at the end. Throws Error(kData), also if
  /// the file has changed meanwhile.
  size_t read(std::span<std::byte> bytes);

  /// How much text was read.
  uint64_t num_bytes() const { return num_bytes_; }

 private:
  struct Close {
    void operator()(sqlite3* database) const;
    void operator()(sqlite3_stmt* statement) const;
  };
  using Statement = std::unique_ptr<sqlite3_stmt, Close>;

  Statement prepare(const std::string& sql) const;
  bool step(const Statement& statement) const;
  std::string find_table() const;
  void write_header();
  void write_row();
  void write_cell(int column);
  void write_text(std::string_view text);
  void require_unchanged() const;
  [[noreturn]] void fail() const;

  std::string path_;
  std::filesystem::file_time_type changed_;
  std::unique_ptr<sqlite3, Close> database_;
  Statement rows_;
  int num_columns_ = 0;
  std::string text_;
  size_t num_given_ = 0;  // of text_
  uint64_t num_bytes_ = 0;
  bool has_ended_ = false;
};

}  // namespace trainer::data
