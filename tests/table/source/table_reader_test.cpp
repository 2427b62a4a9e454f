// SPDX-License-Identifier: Apache-2.0
// Reading a file in pieces gives what reading it at once gives, wherever the pieces end.
#include "trainer/table/source/table_reader.h"

#include <sys/stat.h>

#include <cmath>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/base/error.h"
#include "trainer/table/schema/encode.h"
#include "trainer/table/source/data_file.h"

#include "support/error_of.h"
#include "support/temporary_folder.h"
#include "table/source/csv_cursor.h"

namespace trainer::data {
namespace {

using Words = std::vector<std::string>;
using Floats = std::vector<float>;

class TableReaderTest : public testing::Test {
 protected:
  static void walk_rows(CsvCursor& cursor, std::string& fields) {
    while (cursor.begin_row()) {
      std::string row = fmt::format("[{}:", cursor.location());
      while (cursor.in_row()) row += fmt::format("<{}>", cursor.next_field());
      fields += fmt::format("{}]{}", row, cursor.count_fields());
    }
  }

  /// Every field of the text with the line of its row, and the error at its end, if any; with
  /// `max_rows` in texts of so many rows.
  std::string walk(std::string_view content, size_t block_bytes, int64_t max_rows = 0) {
    const std::filesystem::path path = folder_.write("t.csv", content);
    std::string fields;
    try {
      DataFile file(path);
      CsvText text(file, block_bytes);
      CsvCursor cursor({.file = "t"}, text, {});
      CsvText taken;
      while (max_rows > 0 && cursor.begin_row()) {
        const TextOrigin origin = cursor.origin();
        EXPECT_LE(cursor.take_rows(max_rows, taken), max_rows);
        CsvCursor rows(origin, taken, {});
        walk_rows(rows, fields);
      }
      walk_rows(cursor, fields);
    } catch (const Error& error) {
      fields += std::string_view(error.what()).substr(std::string_view(error.what()).find(':'));
    }
    return fields;
  }

  test::TemporaryFolder folder_;
};

TEST_F(TableReaderTest, TheFieldsDependOnNoBlockSize) {
  const std::string_view texts[] = {
      "a,b\n1,2\n3,4\n",
      "\xEF\xBB\xBF\"a\",b\r\n1,\"x\r\ny\"\r\n\r\n \t \r\n,\"\"\"q\"\"\"",
      "a,b\r1,2\r\r3,\"4\r5\"\r",
      "a\n\"1\n2\n\n3\"  ,\" \"\n\n\n",
      "a,b\n1,\"never closed\nx,y\nz\n",
      "a,b\n1,\"x\"y\n2,3\n",
      "a,b\n\"1\n2\",\"x\"y\n",
      "   ",
      "",
      "\n\n",
      "a\r\nb\rc\nd\r",
      "a,\"\"\"\"\"\"\nb,\"\"\"\n\"\"\"\n",
      "a,5\" tall\n \"x\ny\",6\" wide\n\"z\" \"\n\",7\n",
  };
  for (const std::string_view text : texts) {
    const std::string expected = walk(text, 1 << 20);
    for (size_t block_bytes = 1; block_bytes <= text.size() + 1; ++block_bytes) {
      EXPECT_EQ(walk(text, block_bytes), expected) << text << block_bytes;
      for (const int64_t max_rows : {1, 2, 100}) {
        EXPECT_EQ(walk(text, block_bytes, max_rows), expected) << text << block_bytes << max_rows;
      }
    }
  }
  EXPECT_EQ(walk(texts[1], 3), R"([t:1:<a><b>]2[t:2:<1><x)"
                               "\r\n"
                               R"(y>]2[t:6:<><"q">]2)");
}

TEST_F(TableReaderTest, ANulIsFoundInEveryBlockWithItsLine) {
  using namespace std::string_view_literals;
  for (const size_t block_bytes : {size_t{1}, size_t{4}, size_t{7}, size_t{100}}) {
    const std::string found = walk("a,b\n1,2\n3,\0\n"sv, block_bytes);
    EXPECT_TRUE(
        found.ends_with(":3: NUL byte: this is not UTF-8 text; convert a table saved as UTF-16"))
        << found;
  }
}

TEST_F(TableReaderTest, APackedFileIsToldFromText) {
  EXPECT_EQ(walk("\x1F\x8B\x08 packed", 4),
            ": the gzip file is damaged; download or copy it again");
}

TEST_F(TableReaderTest, ALargeFileIsReadAsASmallOne) {
  // Rows that end in all places of a block, quoted line breaks among them.
  std::string content = "a,k,y\n";
  Floats numbers;
  int64_t lines = 2;
  std::vector<int64_t> expected_lines;
  while (content.size() < 3 * CsvText::kBlockBytes) {
    const size_t row = numbers.size();
    const bool breaks = row % 3 == 0;
    content += fmt::format("{},\"w{}{}\",{}\n", row, breaks ? "\n" : " ", row % 7, row % 2);
    numbers.push_back(static_cast<float>(row));
    expected_lines.push_back(lines);
    lines += breaks ? 2 : 1;
  }
  const auto path = folder_.write("t.csv", content);
  const Table table = read_table({path}, {.targets = {"y"}});
  EXPECT_EQ(table.lines, expected_lines);
  EXPECT_EQ(table.dictionaries.at(1).size(), 14U);
  ASSERT_EQ(table.features.num_rows, static_cast<int64_t>(numbers.size()));
  for (size_t row = 0; row < numbers.size(); row += 997) {
    EXPECT_EQ(value_at(table.features, static_cast<int64_t>(row), 0), numbers[row]);
  }
  EXPECT_EQ(table.fingerprints.front().crc32, fingerprint(path).crc32);
  EXPECT_EQ(table.fingerprints.front().num_bytes, content.size());
}

TEST_F(TableReaderTest, AColumnWithItsFirstValueFarBehindIsDecidedByIt) {
  std::string content = "a,b,y\n";
  while (content.size() < 2 * CsvText::kBlockBytes) content += "1,,0\n2,,1\n";
  content += "3,4.5,1\n";
  const Table table = read_table({folder_.write("t.csv", content)}, {.targets = {"y"}});
  EXPECT_EQ(table.columns.at(1).kind, ColumnKind::kNumeric);
  EXPECT_EQ(value_at(table.features, table.features.num_rows - 1, 1), 4.5);
}

TEST_F(TableReaderTest, AFieldMayBeLongerThanABlock) {
  const std::string text(3 * CsvText::kBlockBytes, 'x');
  for (const char* quote : {"", "\""}) {
    const Table table = read_table(
        {folder_.write("t.csv", fmt::format("a,note,y\n1,{0}{1}{0},0\n2,s,1\n", quote, text))},
        {.targets = {"y"}, .ignored = {"note"}});
    EXPECT_EQ(std::get<Array<float>>(table.features.values), (Floats{1, 2}));
    EXPECT_EQ(table.lines, (std::vector<int64_t>{2, 3}));
  }
}

// ---- rows at a time ----

class SomeRowsTest : public TableReaderTest {
 protected:
  TrainedColumns trained() const {
    return {.columns = columns_, .targets = {}, .ids = TrainedColumns::Ids::kKept};
  }

  std::vector<Column> columns_ = {
      {.name = "a", .fill = 0.5F},
      {.name = "id", .kind = ColumnKind::kId},
      {.name = "k", .kind = ColumnKind::kCategorical, .categories = {"p", "q"}},
      {.name = "code", .kind = ColumnKind::kId},
      {.name = "left", .kind = ColumnKind::kIgnored}};
};

TEST_F(SomeRowsTest, GivesAsManyRowsAsWantedWithTheirIds) {
  const auto path = folder_.write("t.csv",
                                  "code,further,k,a,id\n"
                                  "007,x,q,1,\" A,1\"\nNA,y,p,,B\n009,z,r,3,\n");
  TableReader pieces({path}, trained());
  EXPECT_EQ(pieces.names(), (Words{"code", "further", "k", "a", "id"}));
  Table table;
  ASSERT_TRUE(pieces.next(table, 2));
  EXPECT_EQ(table.id_names, (Words{"id", "code"}));
  EXPECT_EQ(table.ids, (Words{" A,1", "007", "B", "NA"}));
  EXPECT_EQ(table.lines, (std::vector<int64_t>{2, 3}));
  const Encoded first = encode(columns_, config::UnknownCategory::kUnknown, table);
  EXPECT_EQ(std::get<Array<float>>(first.features.values), (Floats{1, 0, 1, 0.5F, 1, 0}));
  ASSERT_TRUE(pieces.next(table, 2));
  EXPECT_EQ(table.ids, (Words{"", "009"}));
  const Encoded second = encode(columns_, config::UnknownCategory::kUnknown, table);
  EXPECT_EQ(std::get<Array<float>>(second.features.values), (Floats{3, 0, 0}));
  EXPECT_EQ(second.num_unknown, (std::vector<int64_t>{0, 0, 1, 0, 0}));
  EXPECT_FALSE(pieces.next(table, 2));
  EXPECT_EQ(pieces.bytes_read(), pieces.size_hint());
}

TEST_F(SomeRowsTest, ErrorsNameTheLineInEveryPiece) {
  const auto path = folder_.write("t.csv", "a,k,id,code\n1,p,,\n2,p,,\nx,p,,\n");
  TableReader pieces({path}, trained());
  Table table;
  ASSERT_TRUE(pieces.next(table, 1));
  ASSERT_TRUE(pieces.next(table, 1));
  EXPECT_EQ(test::error_of([&] { pieces.next(table, 1); }).what(),
            path.string() +
                ":4: column \"a\": expected a number, got \"x\"; correct it: the column was "
                "numeric in the training data");
}

TEST_F(SomeRowsTest, RowsMayBeReadLongAfterTheyAreTaken) {
  const auto path = folder_.write("t.csv",
                                  "a,k,id,code\n1,p,\"A\n1\",\n\n2,p,B,\nx,p,C,\n"
                                  "4,q,D,\n5,q,E,7,8\n");
  TableReader pieces({path}, trained());
  std::vector<TablePiece> taken(4, {.collects_bad = true});
  for (size_t i = 0; i < 3; ++i) ASSERT_TRUE(pieces.take(2, taken[i]));
  EXPECT_FALSE(pieces.take(2, taken[3]));
  for (size_t i = 3; i-- > 0;) pieces.read(taken[i]);
  EXPECT_EQ(taken[0].table.lines, (std::vector<int64_t>{2, 5}));
  EXPECT_EQ(taken[0].table.ids, (Words{"A\n1", "", "B", ""}));
  EXPECT_EQ(taken[1].table.lines, (std::vector<int64_t>{7}));
  EXPECT_EQ(taken[1].bad.at(0).line, 6);
  EXPECT_EQ(taken[2].table.features.num_rows, 0);
  EXPECT_EQ(taken[2].bad.at(0).line, 8);
  EXPECT_EQ(taken[2].bad.at(0).reason, "expected 4 fields as in the header, got 5");
  pieces.require_rows();
}

TEST_F(SomeRowsTest, RowsOfSeveralFilesAreNumberedThrough) {
  folder_.write("t/1.csv", "a,k\n1,p\n\n2,p\n");
  folder_.write("t/2.csv", "a,k\n3,p\nx,p\n");
  TableReader pieces({folder_.path() / "t"}, trained());
  TablePiece piece{.collects_bad = true};
  ASSERT_TRUE(pieces.take(9, piece));
  pieces.read(piece);
  EXPECT_EQ(piece.table.lines, (std::vector<int64_t>{1, 2}));
  ASSERT_TRUE(pieces.take(9, piece));
  pieces.read(piece);
  EXPECT_EQ(piece.table.lines, (std::vector<int64_t>{3}));
  EXPECT_EQ(piece.bad.at(0).line, 4);
  EXPECT_TRUE(piece.bad.at(0).reason.starts_with("column \"a\": expected a number, got \"x\""));
}

TEST_F(SomeRowsTest, AQuoteThatHidesTheEndOfARowIsFoundWhenAllRowsBeforeAreTaken) {
  const auto path = folder_.write("t.csv", "a,k\n1,p\n2,\"q\n3,p\n");
  TableReader pieces({path}, trained());
  TablePiece piece;
  ASSERT_TRUE(pieces.take(9, piece));
  pieces.read(piece);
  EXPECT_EQ(piece.table.features.num_rows, 1);
  EXPECT_EQ(test::error_of([&] { pieces.take(9, piece); }).what(),
            path.string() + ":3: field 2: unclosed quote");
}

TEST_F(SomeRowsTest, AFileWithoutRowsIsAnError) {
  const auto path = folder_.write("t.csv", "a,k\n\n");
  TableReader pieces({path}, trained());
  Table table;
  EXPECT_EQ(test::error_of([&] { pieces.next(table, 9); }).what(),
            path.string() + ": no data rows after the header");
  TablePiece piece;
  EXPECT_FALSE(pieces.take(9, piece));
  EXPECT_EQ(test::error_of([&] { pieces.require_rows(); }).what(),
            path.string() + ": no data rows after the header");
}

TEST_F(SomeRowsTest, RowsWithoutATargetAreCountedInEveryPiece) {
  const auto path = folder_.write("t.csv", "a,k,y\n1,p,\n2,p,NA\n3,p,?\n");
  TrainedColumns columns = trained();
  const Words targets = {"y"};
  columns.targets = targets;
  columns.drop_rows_without_target = true;
  TableReader pieces({path}, columns);
  for (TablePiece piece; pieces.take(2, piece);) pieces.read(piece);
  EXPECT_EQ(pieces.num_without_target(), 3);
  EXPECT_EQ(test::error_of([&] { pieces.require_rows(); }).what(),
            path.string() + ": none of the 3 rows has a target");
}

TEST_F(SomeRowsTest, OneColumnIsEnoughWhereTheModelHasNoMore) {
  columns_.resize(1);
  TableReader pieces({folder_.write("t.csv", "a\n1\n2\n")}, trained());
  Table table;
  ASSERT_TRUE(pieces.next(table, 9));
  EXPECT_EQ(std::get<Array<float>>(table.features.values), (Floats{1, 2}));
}

TEST_F(SomeRowsTest, AWrongDelimiterIsNamedWithTheOptionThatChoosesIt) {
  TrainedColumns columns = trained();
  columns.delimiter_option = "--delimiter ";
  const auto path = folder_.write("t.csv", "a;k\n1;p\n");
  EXPECT_EQ(test::error_of([&] { TableReader({path}, columns); }).what(),
            path.string() +
                ":1: with the delimiter comma there is only one column, \"a;k\"; did you mean "
                "--delimiter semicolon?");
}

TEST_F(SomeRowsTest, APipeCanBeRead) {
  const std::filesystem::path path = folder_.path() / "pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::thread writer([&] { folder_.write("pipe", "k,a\nq,7\n"); });
  TableReader pieces({path}, trained());
  Table table;
  EXPECT_TRUE(pieces.next(table, 9));
  EXPECT_EQ(table.features.num_rows, 1);
  EXPECT_FALSE(pieces.next(table, 9));
  writer.join();
}

}  // namespace
}  // namespace trainer::data
