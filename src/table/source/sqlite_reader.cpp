// SPDX-License-Identifier: Apache-2.0
// SQLite keeps the type of each cell, not of a column, so its rows are read as those of a CSV file
// are: one set of rules finds types, dates and missing values.
#include "table/source/sqlite_reader.h"

#ifdef TRAINER_HAS_SQLITE
#include <sqlite3.h>
#endif

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/text/format.h"

#include "table/error.h"

namespace trainer::data {

bool begins_as_sqlite(std::span<const std::byte> first) {
  constexpr std::string_view kBegin{"SQLite format 3", kSqliteBegin};  // with the NUL
  return std::equal(first.begin(), first.end(), kBegin.begin(), kBegin.end(),
                    [](std::byte a, char b) { return a == static_cast<std::byte>(b); });
}

bool is_sqlite(const std::filesystem::path& file) {
  std::array<char, kSqliteBegin> first{};
  std::ifstream(file, std::ios::binary).read(first.data(), first.size());
  return begins_as_sqlite(std::as_bytes(std::span(first)));
}

#ifdef TRAINER_HAS_SQLITE

namespace {

namespace fs = std::filesystem;

std::string text_at(sqlite3_stmt* row, int column) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(row, column));
  return text == nullptr
             ? ""
             : std::string(text, static_cast<size_t>(sqlite3_column_bytes(row, column)));
}

// What SQLite keeps beside the file until it is moved there.
void require_complete(const std::string& path) {
  const std::string log = path + "-wal";
  std::error_code none;
  const uintmax_t size = fs::file_size(log, none);
  if (none || size == 0) return;
  throw data_error(path,
                   fmt::format("{} has changes that are not in the file yet; close what writes "
                               "it, or run: sqlite3 {} 'pragma wal_checkpoint(truncate)'",
                               log, path));
}

}  // namespace

void SqliteReader::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }
void SqliteReader::Close::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

SqliteReader::SqliteReader(std::string path) : path_(std::move(path)) {
  if (!fs::is_regular_file(path_)) {
    throw data_error(path_,
                     "a SQLite database cannot be read from a pipe; give the path of the file");
  }
  require_complete(path_);
  changed_ = fs::last_write_time(path_);
  sqlite3* opened = nullptr;
  const int status = sqlite3_open_v2(path_.c_str(), &opened, SQLITE_OPEN_READONLY, nullptr);
  database_.reset(opened);
  if (status != SQLITE_OK) fail();
  constexpr int kWaitMilliseconds = 5000;  // for another program that is writing
  sqlite3_busy_timeout(opened, kWaitMilliseconds);
  rows_ = prepare(fmt::format("SELECT * FROM {}", find_table()));
  num_columns_ = sqlite3_column_count(rows_.get());
  write_header();
}

SqliteReader::Statement SqliteReader::prepare(const std::string& sql) const {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database_.get(), sql.c_str(), -1, &statement, nullptr) != SQLITE_OK)
    fail();
  return Statement(statement);
}

bool SqliteReader::step(const Statement& statement) const {
  const int status = sqlite3_step(statement.get());
  if (status != SQLITE_ROW && status != SQLITE_DONE) fail();
  return status == SQLITE_ROW;
}

std::string SqliteReader::find_table() const {
  const Statement found = prepare(
      R"(SELECT name, '"' || replace(name, '"', '""') || '"' FROM sqlite_master )"
      R"(WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY name)");
  std::vector<std::string> names;
  std::string table;
  while (step(found)) {
    names.push_back(in_quotes(text_at(found.get(), 0)));
    if (names.size() == 1) table = text_at(found.get(), 1);
  }
  if (names.empty()) throw data_error(path_, "the SQLite database has no table");
  if (names.size() == 1) return table;
  throw data_error(
      path_, fmt::format("expected a SQLite database with one table, got {}: {}; write the rows to "
                         "a file: sqlite3 -csv -header {} 'select * from {}' > table.csv",
                         names.size(), joined(names), path_, table));
}

void SqliteReader::write_header() {
  text_ = "sep=,\n";
  for (int column = 0; column < num_columns_; ++column) {
    if (column > 0) text_ += ',';
    write_text(sqlite3_column_name(rows_.get(), column));
  }
  text_ += '\n';
}

void SqliteReader::write_row() {
  for (int column = 0; column < num_columns_; ++column) {
    if (column > 0) text_ += ',';
    write_cell(column);
  }
  text_ += '\n';
}

void SqliteReader::write_cell(int column) {
  sqlite3_stmt* const row = rows_.get();
  switch (sqlite3_column_type(row, column)) {
    case SQLITE_INTEGER:
      fmt::format_to(std::back_inserter(text_), "{}", sqlite3_column_int64(row, column));
      break;
    case SQLITE_FLOAT:
      fmt::format_to(std::back_inserter(text_), "{}", sqlite3_column_double(row, column));
      break;
    case SQLITE_TEXT:
      write_text(text_at(row, column));
      break;
    case SQLITE_BLOB: {
      const auto* bytes = static_cast<const unsigned char*>(sqlite3_column_blob(row, column));
      const int num_bytes = sqlite3_column_bytes(row, column);
      text_ += "X'";
      for (int i = 0; i < num_bytes; ++i) {
        fmt::format_to(std::back_inserter(text_), "{:02X}", bytes[i]);
      }
      text_ += '\'';
      break;
    }
    default:
      if (num_columns_ == 1) write_text("");  // an empty line would be no row
  }
}

void SqliteReader::write_text(std::string_view text) {
  text_ += '"';
  for (const char c : text) {
    if (c == '"') text_ += '"';
    text_ += c;
  }
  text_ += '"';
}

size_t SqliteReader::read(std::span<std::byte> bytes) {
  size_t count = 0;
  while (count < bytes.size()) {
    if (num_given_ == text_.size()) {
      text_.clear();
      num_given_ = 0;
      if (has_ended_ || !step(rows_)) break;
      write_row();
    }
    const size_t num_next = std::min(bytes.size() - count, text_.size() - num_given_);
    std::transform(text_.data() + num_given_, text_.data() + num_given_ + num_next,
                   bytes.begin() + static_cast<std::ptrdiff_t>(count),
                   [](char c) { return static_cast<std::byte>(c); });
    num_given_ += num_next;
    count += num_next;
  }
  if (count < bytes.size() && !has_ended_) {
    has_ended_ = true;
    require_unchanged();
  }
  num_bytes_ += count;
  return count;
}

// SQLite's locks end when any part of this process closes the file, so they cannot be relied on.
void SqliteReader::require_unchanged() const {
  require_complete(path_);
  if (fs::last_write_time(path_) == changed_) return;
  throw data_error(path_, "the SQLite database has changed while it was read; try again");
}

void SqliteReader::fail() const {
  throw data_error(path_, fmt::format("SQLite: {}", sqlite3_errmsg(database_.get())));
}

#else

void SqliteReader::Close::operator()(sqlite3*) const {}
void SqliteReader::Close::operator()(sqlite3_stmt*) const {}

SqliteReader::SqliteReader(std::string path) : path_(std::move(path)) {
  throw data_error(
      path_,
      "this build cannot read SQLite databases; install SQLite (Debian, Ubuntu: apt-get "
      "install libsqlite3-dev; macOS has it) and build again, or write the table as CSV");
}

size_t SqliteReader::read(std::span<std::byte>) { return 0; }

#endif

}  // namespace trainer::data
