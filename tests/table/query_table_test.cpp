// SPDX-License-Identifier: Apache-2.0
// Tables that DuckDB reads are the same as those of a CSV file with the same cells.
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/table/source/table_reader.h"

#include "support/duckdb_test.h"

namespace trainer::data {
namespace {

using Words = std::vector<std::string>;
using Floats = std::vector<float>;

const Words kTargets = {"y"};

class QueryTableTest : public test::DuckdbTest {
 protected:
  static Table read(const std::string& query, ColumnOptions options = {.targets = kTargets}) {
    return read_table({.path = "", .query = query}, options);
  }

  std::string problem(const std::string& query,
                      const ColumnOptions& options = {.targets = kTargets}) {
    return message_of([&] { read(query, options); });
  }

  static const Array<float>& cells(const Table& table) {
    return std::get<Array<float>>(table.features.values);
  }
};

void expect_same(const Table& a, const Table& b) {
  EXPECT_EQ(a.feature_names, b.feature_names);
  EXPECT_EQ(a.columns, b.columns);
  EXPECT_EQ(a.dictionaries, b.dictionaries);
  EXPECT_EQ(a.num_missing, b.num_missing);
  EXPECT_EQ(a.targets, b.targets);
  EXPECT_EQ(a.splits, b.splits);
  EXPECT_EQ(a.groups, b.groups);
  EXPECT_EQ(a.times, b.times);
  EXPECT_EQ(a.weights, b.weights);
  const auto& left = std::get<Array<float>>(a.features.values);
  const auto& right = std::get<Array<float>>(b.features.values);
  ASSERT_EQ(left.size(), right.size());
  for (size_t i = 0; i < left.size(); ++i) {
    ASSERT_TRUE(left[i] == right[i] || (std::isnan(left[i]) && std::isnan(right[i]))) << i;
  }
}

// More rows than a chunk has; every kind of column; some cells missing.
const char* const kMixed =
    "select range as id, case when range % 7 = 3 then null else sin(range) end as a, "
    "1600000000 + range * 86400 as seconds, "
    "case when range % 11 = 5 then null else ['red', 'green', 'a much longer blue'][range % 3 + 1] "
    "end as colour, range % 2 = 0 as flag, range::text || 'x' as name, "
    "['train', 'val', 'test'][range % 3 + 1] as part, range % 5 as customer, "
    "(range % 4 + 1) / 2 as w, range % 2 as y from range(5000)";

TEST_F(QueryTableTest, AParquetFileGivesTheTableOfACsvFile) {
  const auto parquet = write_result("t.parquet", kMixed);
  const auto csv = write_result("t.csv", kMixed);
  const ColumnOptions options{.targets = kTargets,
                              .id = {"id"},
                              .split_column = "part",
                              .group = "customer",
                              .weight = "w"};
  const Table table = read_table({parquet}, options);
  expect_same(table, read_table({csv}, options));
  EXPECT_EQ(table.feature_names, (Words{"a", "seconds", "colour", "flag", "name"}));
  EXPECT_EQ(table.columns[2].offset != 0, true);
  EXPECT_EQ(table.columns[5].kind, ColumnKind::kIgnored);  // name
  EXPECT_EQ(table.lines.front(), 1);
  EXPECT_EQ(table.lines.back(), 5000);
  EXPECT_EQ(table.fingerprints.front(), fingerprint(parquet));
}

TEST_F(QueryTableTest, DatesBecomeTheColumnsThatTheyBecomeInACsvFile) {
  const char* const dates =
      "select case when range % 7 = 3 then null else date '2026-01-01' + range::integer end as "
      "day, "
      "timestamp '2026-01-01 00:00:00' + to_seconds(range * 4567) as time, range % 2 as y "
      "from range(500)";
  const auto parquet = write_result("t.parquet", dates);
  const auto csv = write_result("t.csv", dates);
  const ColumnOptions options{.targets = kTargets,
                              .dates = {config::DatePart::kMonth, config::DatePart::kSeconds}};
  const Table table = read_table({parquet}, options);
  expect_same(table, read_table({csv}, options));
  EXPECT_EQ(table.feature_names, (Words{"day.month", "day.seconds", "time.month", "time.seconds"}));
  EXPECT_GT(table.num_missing[0], 0);
  EXPECT_EQ(table.num_missing[2], 0);
  std::vector<Column> fitted = table.columns;
  for (Column& column : fitted) column.fill = 1.0F;
  expect_same(read_table_as({parquet}, {.columns = fitted, .targets = kTargets}),
              read_table_as({csv}, {.columns = fitted, .targets = kTargets}));
}

TEST_F(QueryTableTest, JsonIsReadToo) {
  folder_.write("t.jsonl",
                "{\"a\": 1.5, \"c\": \"x\", \"y\": 0}\n{\"c\": \"z\", \"a\": null, \"y\": 1}\n");
  const Table table = read_table({folder_.path() / "t.jsonl"}, {.targets = kTargets});
  EXPECT_EQ(table.feature_names, (Words{"a", "c"}));
  EXPECT_EQ(cells(table)[0], 1.5F);
  EXPECT_TRUE(std::isnan(cells(table)[2]));
  EXPECT_EQ(table.dictionaries[1], (Words{"x", "z"}));
}

TEST_F(QueryTableTest, JsonIsTypedByAllOfItsRows) {
  std::string text;
  for (int i = 0; i < 21'000; ++i) {
    const bool is_late = i >= 20'990;
    text += fmt::format("{{\"a\": {}, \"n\": {}, {}\"y\": 0}}\n", is_late ? "0.25" : "3",
                        is_late ? "1.5" : "null", is_late ? "\"z\": 2.5, " : "");
  }
  folder_.write("t.jsonl", text);
  const Table table = read_table({folder_.path() / "t.jsonl"}, {.targets = kTargets});
  EXPECT_EQ(table.feature_names, (Words{"a", "n", "z"}));
  const auto end = cells(table).end();
  EXPECT_EQ(Floats(end - 3, end), (Floats{0.25, 1.5, 2.5}));
}

TEST_F(QueryTableTest, EachKeyOfJsonIsAColumn) {
  std::string wide;
  for (int row = 0; row < 30; ++row) {
    wide += "{";
    for (int i = 0; i < 250; ++i) wide += fmt::format("\"f{}\": {}.5, ", i, row);
    wide += fmt::format("\"y\": {}}}\n", row % 2);
  }
  folder_.write("t.jsonl", wide);
  EXPECT_EQ(read_table({folder_.path() / "t.jsonl"}, {.targets = kTargets}).feature_names.size(),
            250U);
  std::string sparse;
  for (int row = 0; row < 300; ++row)
    sparse += fmt::format("{{\"f{}\": {}, \"y\": 1}}\n", row % 60, row);
  folder_.write("t.jsonl", sparse);
  EXPECT_EQ(read_table({folder_.path() / "t.jsonl"}, {.targets = kTargets}).feature_names.size(),
            60U);
}

TEST_F(QueryTableTest, RowsOfWeightZeroAreLeftOut) {
  const Table table = read("select range as a, range % 3 / 2 as w, range % 2 as y from range(9)",
                           {.targets = kTargets, .weight = "w"});
  EXPECT_EQ(table.num_weightless, 3);
  EXPECT_EQ(cells(table), (Floats{1, 2, 4, 5, 7, 8}));
  EXPECT_EQ(table.lines, (std::vector<int64_t>{2, 3, 5, 6, 8, 9}));
}

TEST_F(QueryTableTest, PiecesAreThoseOfTheWhole) {
  const auto parquet = write_result(
      "t.parquet", "select range as id, sin(range) as a, cos(range) as b, 0 as y from range(4100)");
  const Table whole = read_table({parquet}, {.targets = kTargets, .id = {"id"}});
  Words numbers;
  for (int i = 0; i < 4100; ++i) numbers.push_back(std::to_string(i));
  for (const int64_t max_rows : {1, 1000, 2048, 100'000}) {
    TableReader pieces(
        {parquet},
        {.columns = whole.columns, .targets = kTargets, .ids = TrainedColumns::Ids::kKept});
    Floats all;
    Words ids;
    std::vector<int64_t> lines;
    for (Table piece; pieces.next(piece, max_rows);) {
      EXPECT_LE(piece.features.num_rows, max_rows);
      all.insert(all.end(), cells(piece).begin(), cells(piece).end());
      ids.insert(ids.end(), piece.ids.begin(), piece.ids.end());
      lines.insert(lines.end(), piece.lines.begin(), piece.lines.end());
    }
    EXPECT_EQ(all, cells(whole));
    EXPECT_EQ(lines, whole.lines);
    EXPECT_EQ(ids, numbers);
  }
}

TEST_F(QueryTableTest, RowsWithoutATargetAreDropped) {
  const Table table = read(
      "select range as a, case when range % 3 = 0 then null else range % 2 end as y from range(9)",
      {.targets = kTargets, .drop_rows_without_target = true});
  EXPECT_EQ(table.num_without_target, 3);
  EXPECT_EQ(cells(table), (Floats{1, 2, 4, 5, 7, 8}));
  EXPECT_EQ(table.lines, (std::vector<int64_t>{2, 3, 5, 6, 8, 9}));
}

TEST_F(QueryTableTest, BadRowsAreLeftOutAndListed) {
  const std::vector<Column> columns = {{.name = "a"}, {.name = "b", .fill = 0.0F}};
  TableReader pieces({.path = "",
                      .query = "select * from (values (1, '2'), (null, '3'), (4, 'x'), "
                               "(5, 'inf'), (6, '7')) t(a, b)"},
                     {.columns = columns, .targets = {}});
  Table table;
  std::vector<BadRow> bad;
  ASSERT_TRUE(pieces.next(table, 100, bad));
  EXPECT_EQ(cells(table), (Floats{1, 2, 6, 7}));
  ASSERT_EQ(bad.size(), 3U);
  EXPECT_EQ(bad[0].line, 2);
  EXPECT_EQ(bad[0].reason,
            "column \"a\": expected a number, got an empty field; fill it in: the model has no "
            "fill value for this column");
  EXPECT_EQ(bad[1].reason,
            "column \"b\": expected a number, got \"x\"; correct it: the column was numeric in the "
            "training data");
  EXPECT_EQ(bad[2].reason, "column \"b\": expected a finite number, got \"inf\"");
}

TEST_F(QueryTableTest, ListsDecideOverTypes) {
  const Table table = read(
      "select '1.5' as a, 7 as b, true as c, 0 as y union all "
      "select '2', 8, false, 1",
      {.targets = kTargets, .numeric = {"a", "c"}, .categorical = {"b"}});
  EXPECT_EQ(cells(table), (Floats{1.5F, 0, 1, 2, 1, 0}));
  EXPECT_EQ(table.dictionaries[1], (Words{"7", "8"}));
}

TEST_F(QueryTableTest, WhatIsNeitherNumberNorTextIsLeftOut) {
  const Table table = read("select [1, 2] as l, {'a': 1} as s, 3 as a, 0 as y");
  EXPECT_EQ(table.feature_names, Words{"a"});
  EXPECT_EQ(table.columns[0].reason, "its type, INTEGER[], is neither a number nor a text");
  EXPECT_EQ(problem("select 1 as a, [0] as y"),
            "data.query: column \"y\": expected a number or a text, got the type INTEGER[]; "
            "convert it with a query (data.query)");
}

TEST_F(QueryTableTest, CodesForMissingValuesAreThoseOfTextFiles) {
  const Table table =
      read_table({.path = "",
                  .format = {.missing = MissingValues(Words{"-99", "unknown"})},
                  .query = "select * from (values (1.0, 'x', 0), (-99, 'Unknown', 1), "
                           "('nan'::double, '', 0)) t(a, c, y)"},
                 {.targets = kTargets});
  EXPECT_EQ(table.num_missing, (std::vector<int64_t>{2, 2}));
}

TEST_F(QueryTableTest, TimesOrderRows) {
  const Table table = read(
      "select timestamp '2026-03-01 12:30:00' as t, 1 as a, 0 as y union all "
      "select timestamp '2026-03-02 00:00:00', 2, 1",
      {.targets = kTargets, .time = "t"});
  EXPECT_EQ(table.times, (std::vector<double>{1772368200, 1772409600}));
}

TEST_F(QueryTableTest, ErrorsNameTheRow) {
  EXPECT_EQ(problem("select range as a, case when range = 2999 then null else 1 end as y "
                    "from range(5000)"),
            "data.query: row 3000: column \"y\": expected a target, got an empty field; fill it "
            "in, remove the row, or drop all such rows with data.drop_rows_without_target: true");
  EXPECT_EQ(problem("select 1 as a where false", {.targets = {"a"}}),
            "data.query: no feature columns besides the target \"a\"; remove some from "
            "data.ignore and data.id");
  EXPECT_EQ(problem("select 1 as a, 2 as y where false"),
            "data.query: no data rows after the header");
  EXPECT_EQ(problem("select 1 as a, 2 as a, 3 as y"),
            "data.query: duplicate column \"a\", in positions 1 and 2; rename one of them");
  EXPECT_EQ(problem("select 1 as a, 2 as z"),
            "data.query: data.target: column \"y\" is not in the header; the header has a and z");
  EXPECT_EQ(problem("select 'inf'::double as a, 2 as y"),
            "data.query: row 1: column \"a\": expected a finite number, got \"inf\"");
}

TEST_F(QueryTableTest, AFileThatIsNoneIsExplained) {
  EXPECT_EQ(
      message_of([&] { read_table({folder_.path() / "absent.parquet"}, {.targets = kTargets}); }),
      "absent.parquet: no such file");
  folder_.write("bad.parquet", "no parquet at all");
  EXPECT_EQ(
      message_of([&] { read_table({folder_.path() / "bad.parquet"}, {.targets = kTargets}); }),
      "bad.parquet: Invalid Input Error: No magic bytes found at end of file 'bad.parquet'");
  write_result("cut.parquet", "select range as a, range % 2 as y from range(100000)");
  std::filesystem::resize_file(folder_.path() / "cut.parquet", 20'000);
  EXPECT_EQ(
      message_of([&] { read_table({folder_.path() / "cut.parquet"}, {.targets = kTargets}); }),
      "cut.parquet: Invalid Input Error: No magic bytes found at end of file 'cut.parquet'");
}

TEST_F(QueryTableTest, SeveralParquetFilesHaveTheSameColumnsInAnyOrder) {
  const auto table_with = [&](const std::string& second) {
    write_result("t/1.parquet", "select range as a, 'x' as b, range % 2 as y from range(4)");
    write_result("t/2.parquet", second);
    return read_table({folder_.path() / "t"}, {.targets = kTargets});
  };
  const auto problem_with = [&](const std::string& second) {
    return message_of([&] { table_with(second); });
  };
  std::filesystem::create_directory(folder_.path() / "t");
  // Whole numbers and others are numbers.
  const Table table = table_with("select 1 as y, 2.5 as a, 'z' as b");
  EXPECT_EQ(table.features.num_rows, 5);
  EXPECT_EQ(cells(table)[8], 2.5F);
  const std::string fix =
      "; choose other files, or make the columns the same with a query (data.query)";
  EXPECT_EQ(problem_with("select 1 as a, 1 as y"),
            "t/2.parquet: expected the columns of t/1.parquet: for \"b\", a column of the kind "
            "text, got none" +
                fix);
  EXPECT_EQ(problem_with("select 1 as a, 'x' as b, 1 as y, 1 as more"),
            "t/2.parquet: expected the columns of t/1.parquet: for \"more\", none, got a column of "
            "the kind number" +
                fix);
  EXPECT_EQ(problem_with("select date '2026-03-01' as a, 'x' as b, 1 as y"),
            "t/2.parquet: expected the columns of t/1.parquet: for \"a\", a column of the kind "
            "number, got a column of the kind time" +
                fix);
}

TEST_F(QueryTableTest, AQueryHasTheFingerprintOfItsCells) {
  const auto print = [](const std::string& query) { return read(query).fingerprints.front(); };
  const Fingerprint one = print("select 1 as a, 'x' as b, 0 as y");
  EXPECT_EQ(one, print("select 1 as a, 'x' as b, 0 as y -- the same"));
  EXPECT_NE(one, print("select 2 as a, 'x' as b, 0 as y"));
  EXPECT_NE(one, print("select 1 as a, 'z' as b, 0 as y"));
  EXPECT_NE(one, print("select null as a, 'x' as b, 0 as y"));
}

}  // namespace
}  // namespace trainer::data
