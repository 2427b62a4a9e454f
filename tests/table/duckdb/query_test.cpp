// SPDX-License-Identifier: Apache-2.0
#include "trainer/table/duckdb/query.h"

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/base/error.h"

#include "support/duckdb_test.h"
#include "support/error_of.h"

namespace trainer::duckdb {
namespace {

using Words = std::vector<std::string>;

class QueryTest : public test::DuckdbTest {
 protected:
  /// All rows, each as text, with the columns of a number as one where `as_numbers` says so.
  static Words rows_of(Query& query, bool as_numbers) {
    std::vector<WantedColumn> wanted;
    for (size_t i = 0; i < query.columns().size(); ++i) {
      wanted.push_back({i, as_numbers ? CellType::kNumber : CellType::kText});
    }
    query.start(wanted);
    Words rows;
    while (const std::optional<Chunk> chunk = query.next()) {
      for (int64_t row = 0; row < chunk->num_rows(); ++row) {
        std::string text;
        for (size_t i = 0; i < wanted.size(); ++i) {
          if (chunk->is_null(i, row)) {
            text += "null|";
          } else if (as_numbers) {
            text += fmt::format("{}|", chunk->numbers(i)[row]);
          } else {
            text += fmt::format("{}|", chunk->text(i, row));
          }
        }
        rows.push_back(text);
      }
    }
    return rows;
  }

  static std::string problem(const std::string& sql) {
    return test::message_of(ErrorKind::kData, [&] {
      Query query({.name = "data.query", .sql = sql});
      rows_of(query, /*as_numbers=*/false);
    });
  }
};

TEST_F(QueryTest, EachTypeIsANumberATextATimeOrNeither) {
  const Query query(
      {.name = "q",
       .sql = "select 1::tinyint a, 2::ubigint b, 3::hugeint c, 1.5::decimal(9,2) d, 1e3 e, "
              "2.5::float f, null g, true h, 'x' i, 'x'::enum('x','y') j, uuid() k, "
              "date '2026-03-01' l, timestamp '2026-03-01 12:30:00' m, now() n, [1] o, "
              "{'a': 1} p, 'x'::blob q, time '12:00' r, interval 3 days s, map {'a': 1} t, "
              "[[1, 2]]::integer[2][] u"});
  std::string types;
  for (const ResultColumn& column : query.columns()) {
    types += fmt::format("{}{} ", column.name, static_cast<int>(column.type));
  }
  EXPECT_EQ(types, "a0 b0 c0 d0 e0 f0 g0 h1 i2 j2 k2 l3 m3 n3 o4 p4 q4 r4 s4 t4 u4 ");
  EXPECT_EQ(query.columns()[3].type_name, "DECIMAL(9,2)");
}

TEST_F(QueryTest, CellsComeAsDoublesOrAsText) {
  const std::string sql =
      "select * from (values (1::bigint, 0.1::decimal(3,1), true, date '1970-01-02'), "
      "(null, null, null, null), (-7, 12.5, false, date '1969-12-31')) t(a, b, c, d)";
  Query numbers({.name = "q", .sql = sql});
  EXPECT_EQ(rows_of(numbers, true),
            (Words{"1|0.1|1|86400|", "null|null|null|null|", "-7|12.5|0|-86400|"}));
  Query texts({.name = "q", .sql = sql});
  EXPECT_EQ(rows_of(texts, false),
            (Words{"1|0.1|true|1970-01-02|", "null|null|null|null|", "-7|12.5|false|1969-12-31|"}));
}

TEST_F(QueryTest, TextsOfAnyLengthAreWhole) {
  Query query({.name = "q", .sql = "select repeat('ä', range) || '.' from range(20)"});
  const Words rows = rows_of(query, false);
  ASSERT_EQ(rows.size(), 20U);
  for (size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(rows[i].size(), 2 * i + 2);
}

TEST_F(QueryTest, RowsComeInTheirOrder) {
  write_result("t.parquet", "select range as a from range(300000)");
  Query query({.name = "q", .sql = "from 't.parquet'", .folder = folder_.path().string()});
  query.start({{0, CellType::kNumber}});
  double expected = 0;
  while (const std::optional<Chunk> chunk = query.next()) {
    for (int64_t row = 0; row < chunk->num_rows(); ++row) {
      ASSERT_EQ(chunk->numbers(0)[row], expected++);
    }
  }
  EXPECT_EQ(expected, 300'000);
}

TEST_F(QueryTest, ItMayBeAbandonedAtAnyTime) {
  const Statement many{.name = "q", .sql = "select range as a from range(10000000)"};
  for (const int num_chunks : {0, 1, 100}) {
    Query query(many);
    query.start({{0, CellType::kNumber}});
    for (int i = 0; i < num_chunks; ++i) ASSERT_TRUE(query.next());
  }
}

TEST_F(QueryTest, AColumnMayBeLeftOutOrComeTwice) {
  Query query({.name = "q", .sql = "select 1 as a, 2 as \"b \"\"x\"\"\", 3 as c"});
  query.start({{1, CellType::kText}, {0, CellType::kNumber}, {1, CellType::kNumber}});
  const std::optional<Chunk> chunk = query.next();
  ASSERT_TRUE(chunk);
  EXPECT_EQ(chunk->text(0, 0), "2");
  EXPECT_EQ(chunk->numbers(1)[0], 1);
  EXPECT_EQ(chunk->numbers(2)[0], 2);
}

TEST_F(QueryTest, ASemicolonOrACommentMayEndIt) {
  for (const char* sql : {"select 1 as a;", "select 1 as a ; \n", "select 1 as a -- one",
                          "select 1 as a; --", "select 1 as a /* ; /* 2 */ */ ; -- 'x\n ;"}) {
    Query query({.name = "q", .sql = sql});
    EXPECT_EQ(rows_of(query, true), Words{"1|"}) << sql;
  }
}

TEST_F(QueryTest, MessagesAreThoseOfDuckdb) {
  EXPECT_EQ(problem("selec 1"),
            "data.query: Parser Error: syntax error at or near \"selec\"\n"
            "LINE 1: selec 1\n        ^");
  EXPECT_EQ(problem("select * from 'absent.parquet'"),
            "data.query: IO Error: No files found that match the pattern \"absent.parquet\"");
  EXPECT_EQ(problem("select 1; select 2"),
            "data.query: Invalid Input Error: Cannot prepare multiple statements at once!");
  EXPECT_EQ(problem("create table t (a integer)"),
            "data.query: expected a SELECT statement, got one of another kind");
}

// Else a configuration of somebody else could bring code from the network and run it.
TEST_F(QueryTest, NothingIsInstalledOrLoaded) {
  Query query({.name = "q",
               .sql = "select value from duckdb_settings() where name in "
                      "('autoinstall_known_extensions', 'autoload_known_extensions')"});
  EXPECT_EQ(rows_of(query, false), (Words{"false|", "false|"}));
  EXPECT_NE(problem("select * from 'http://localhost:1/x.csv'").find("httpfs"), std::string::npos);
}

TEST_F(QueryTest, TemporaryFilesAreNotInTheWorkingDirectory) {
  Query query({.name = "q",
               .sql = "select value[:1] from duckdb_settings() where name = 'temp_directory'"});
  EXPECT_EQ(rows_of(query, false), Words{"/|"});
}

TEST_F(QueryTest, OnlyNamedFilesAreReadIfThatIsWanted) {
  for (const char* name : {"a.csv", "b.csv", "it's.csv", "c.txt"})
    folder_.write(name, "x,y\n1,2\n");
  const auto read = [&](const std::string& sql) {
    Query query({.name = "data.query",
                 .sql = sql,
                 .folder = folder_.path().string(),
                 .reads = Reads::kNamedFiles});
    return rows_of(query, true).size();
  };
  EXPECT_EQ(read("from 'a.csv'"), 1U);
  EXPECT_EQ(read("from \"a.csv\" -- don't\n union all from 'it''s.csv'"), 2U);
  EXPECT_EQ(read("from '" + (folder_.path() / "a.csv").string() + "'"), 1U);
  EXPECT_EQ(read("from '*.csv'"), 3U);
  for (const char* sql : {"from read_csv('a' || '.csv')",
                          "from read_text('c' || '.txt') -- 'a.csv'", "from glob('c' || '*')"}) {
    const std::string message = test::message_of(ErrorKind::kData, [&] { read(sql); });
    EXPECT_NE(message.find("Permission Error: Cannot access file"), std::string::npos) << message;
  }
}

TEST_F(QueryTest, AnErrorInTheMiddleOfTheRowsIsNoEnd) {
  EXPECT_EQ(problem("select case when range = 5000 then error('boom') else range end as x "
                    "from range(9000)"),
            "data.query: Invalid Input Error: boom");
}

TEST(DuckdbLibraryTest, NamesAndTextsAreQuoted) {
  EXPECT_EQ(quoted_text("it's"), "'it''s'");
  EXPECT_EQ(quoted_name("a \"b\""), "\"a \"\"b\"\"\"");
}

}  // namespace
}  // namespace trainer::duckdb
