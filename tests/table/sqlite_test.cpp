// SPDX-License-Identifier: Apache-2.0
// Tables in SQLite databases; of builds that have SQLite.
#include <sqlite3.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/config/data_config.h"
#include "trainer/table/source/data_file.h"
#include "trainer/table/source/inspect.h"
#include "trainer/table/source/table_reader.h"
#include "trainer/table/source/table_source.h"

#include "support/data_folder.h"
#include "support/files.h"

namespace trainer::data {
namespace {

const std::vector<std::string> kSqliteTargets = {"y"};

class SqliteTest : public test::DataFolderTest {
 protected:
  using Database = std::unique_ptr<sqlite3, int (*)(sqlite3*)>;

  std::string path(const std::string& name) const { return folder_.path() / name; }

  Database open(const std::string& name) const {
    sqlite3* database = nullptr;
    EXPECT_EQ(sqlite3_open(path(name).c_str(), &database), SQLITE_OK);
    return {database, sqlite3_close};
  }

  static void run(const Database& database, const std::string& sql) {
    EXPECT_EQ(sqlite3_exec(database.get(), sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(database.get());
  }

  void write(const std::string& name, const std::string& sql) const { run(open(name), sql); }

  Table read(const std::string& name) const {
    return read_table({path(name)}, {.targets = kSqliteTargets});
  }

  std::string problem(const std::string& name) const {
    return message_of([&] { read(name); });
  }
};

const std::string kMixed =
    "CREATE TABLE t (a REAL, n INTEGER, c TEXT, b BLOB, y TEXT);"
    "INSERT INTO t VALUES (0.1, 9007199254740993, 'plain', x'00ff', 'p'),"
    " (1e300, -1, 'a,b', x'', 'q'), (NULL, NULL, NULL, NULL, 'p'),"
    " (-2.5, 3, 'say \"no\"' || char(10) || 'twice', 'text', 'q'), (1, '4', '', 7, 'p');";

TEST_F(SqliteTest, ItsTextIsThatOfItsRowsInOrder) {
  write("t.sqlite", kMixed);
  DataFile file(path("t.sqlite"));
  std::string text(1000, '\0');
  text.resize(file.read(std::as_writable_bytes(std::span(text))));
  EXPECT_EQ(text,
            "sep=,\n\"a\",\"n\",\"c\",\"b\",\"y\"\n"
            "0.1,9007199254740993,\"plain\",X'00FF',\"p\"\n"
            "1e+300,-1,\"a,b\",X'',\"q\"\n"
            ",,,,\"p\"\n"
            "-2.5,3,\"say \"\"no\"\"\ntwice\",\"text\",\"q\"\n"
            "1,4,\"\",7,\"p\"\n");
  EXPECT_FALSE(file.has_lines());
  EXPECT_EQ(file.fingerprint(), fingerprint(path("t.sqlite")));
}

TEST_F(SqliteTest, ItIsTheTableOfThatTextWhateverItsName) {
  write("t.db",
        "CREATE TABLE \"my \"\"t\"\"\" (a, c, y); CREATE INDEX i ON \"my \"\"t\"\"\" (c);"
        "INSERT INTO \"my \"\"t\"\"\" VALUES (2, 'x', 1.5), (NULL, 'w', 2), (3, 'x', 4)");
  folder_.write("t.csv", "a,c,y\n2,x,1.5\n,w,2\n3,x,4\n");
  const Table table = read("t.db");
  const Table expected = read("t.csv");
  EXPECT_EQ(table.columns, expected.columns);
  EXPECT_EQ(table.dictionaries, expected.dictionaries);
  EXPECT_EQ(table.num_missing, expected.num_missing);
  EXPECT_EQ(table.targets.number(2), 4);
  EXPECT_EQ(table.lines, (std::vector<int64_t>{1, 2, 3}));
  EXPECT_FALSE(table.has_lines);
  EXPECT_EQ(read_table({path("t.db"), {.delimiter = ';'}}, {.targets = kSqliteTargets}).columns,
            expected.columns);
  const TableFacts facts = inspect_table({path("t.db")}, {});
  EXPECT_EQ(facts.num_rows, 3);
  EXPECT_FALSE(facts.has_lines);
  config::DataConfig data;
  data.source = config::Source::kCsv;
  data.path = path("t.db");
  EXPECT_FALSE(has_lines(data));
  data.path = path("t.csv");
  EXPECT_TRUE(has_lines(data));
}

TEST_F(SqliteTest, AViewIsATableToo) {
  write("other.db", "CREATE TABLE t (a, y)");
  write("v.db", "CREATE VIEW v AS SELECT 1 AS a, 2 AS y UNION ALL SELECT 3, 4");
  EXPECT_EQ(read("v.db").features.num_rows, 2);
}

TEST_F(SqliteTest, ARowOfOneMissingCellIsARow) {
  write("t.db", "CREATE TABLE t (a); INSERT INTO t VALUES (1), (NULL), (3)");
  DataFile file(path("t.db"));
  std::string text(100, '\0');
  text.resize(file.read(std::as_writable_bytes(std::span(text))));
  EXPECT_EQ(text, "sep=,\n\"a\"\n1\n\"\"\n3\n");
}

TEST_F(SqliteTest, MessagesNameTheRow) {
  std::string rows;
  for (int i = 0; i < 2000; ++i) rows += "(1, char(10), 5), ";
  write("t.db", "CREATE TABLE t (a, c, y); INSERT INTO t VALUES " + rows + "('x', 'c', 6)");
  EXPECT_EQ(message_of([&] {
              read_table({path("t.db")},
                         {.targets = kSqliteTargets, .numeric = std::vector<std::string>{"a"}});
            }),
            "t.db: row 2001: column \"a\": expected a number, got \"x\"; correct it, add it to "
            "data.missing or list the column in data.categorical");
}

TEST_F(SqliteTest, WhatIsNoSingleTableIsAnError) {
  write("empty.db", "CREATE TABLE t (a); DROP TABLE t");
  EXPECT_EQ(problem("empty.db"), "empty.db: the SQLite database has no table");
  write("two.db", "CREATE TABLE z (a, y); CREATE TABLE \"a b\" (a, y)");
  EXPECT_EQ(
      problem("two.db"),
      "two.db: expected a SQLite database with one table, got 2: \"a b\" and \"z\"; write the "
      "rows to a file: sqlite3 -csv -header two.db 'select * from \"a b\"' > table.csv");
  write("bare.db", "CREATE TABLE t (a, y)");
  EXPECT_EQ(problem("bare.db"), "bare.db: no data rows after the header");
}

TEST_F(SqliteTest, ADamagedFileIsNoTable) {
  std::string rows;
  for (int i = 0; i < 5000; ++i) rows += (i > 0 ? ", (" : "(") + std::to_string(i) + ", 1)";
  write("whole.db", "CREATE TABLE t (a, y); INSERT INTO t VALUES " + rows);
  const std::string whole = test::read_file(folder_.path() / "whole.db");
  for (const size_t size : {whole.size() / 2, size_t{2000}, size_t{100}}) {
    folder_.write("cut.db", whole.substr(0, size));
    const std::string message = problem("cut.db");
    EXPECT_TRUE(message == "cut.db: SQLite: database disk image is malformed" ||
                message == "cut.db: SQLite: file is not a database")
        << message;
  }
}

TEST_F(SqliteTest, ChangesThatAreNotInTheFileAreAnError) {
  const Database writer = open("t.db");
  run(writer, "PRAGMA journal_mode = wal; CREATE TABLE t (a, y); INSERT INTO t VALUES (1, 2)");
  EXPECT_EQ(problem("t.db"),
            "t.db: t.db-wal has changes that are not in the file yet; close what writes it, or "
            "run: sqlite3 t.db 'pragma wal_checkpoint(truncate)'");
  run(writer, "PRAGMA wal_checkpoint(truncate)");
  EXPECT_EQ(read("t.db").features.num_rows, 1);
}

// Another program may write as soon as any part of this one has closed the file.
TEST_F(SqliteTest, AChangeWhileItIsReadIsAnError) {
  write("t.db", "CREATE TABLE t (a, y); INSERT INTO t VALUES (1, 2), (3, 4)");
  DataFile file(path("t.db"));
  const auto before = std::filesystem::last_write_time(path("t.db"));
  std::filesystem::last_write_time(path("t.db"), before + std::chrono::seconds(1));
  std::string text(1000, '\0');
  EXPECT_EQ(message_of([&] { file.read(std::as_writable_bytes(std::span(text))); }),
            "t.db: the SQLite database has changed while it was read; try again");
}

}  // namespace
}  // namespace trainer::data
