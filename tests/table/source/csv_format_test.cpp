// SPDX-License-Identifier: Apache-2.0
// How a table is written: delimiter, decimal mark, missing values, packed or not.
#include "trainer/table/source/csv_format.h"

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/table/source/table_reader.h"

#include "support/csv_folder.h"
#include "support/error_of.h"
#include "support/gzip.h"
#include "support/temporary_folder.h"

namespace trainer::data {
namespace {

using Floats = std::vector<float>;
using Words = std::vector<std::string>;

CsvFormat with_missing(const Words& texts) { return {.missing = MissingValues(texts)}; }

class CsvFormatTest : public test::CsvFolderTest {
 protected:
  Table read(std::string_view content, const CsvFormat& format) {
    return CsvFolderTest::read(content, {.targets = test::kTarget}, format);
  }
  static Array<float> cells(const Table& table) {
    return std::get<Array<float>>(table.features.values);
  }
};

TEST(MissingValuesTest, ByDefaultAreThoseOfPandas) {
  for (const char* text : {"", "NA", "n/a", "#N/A", "<NA>", "-nan", "None", "NULL", "?", "nan"}) {
    EXPECT_TRUE(is_missing(text, {})) << text;
  }
  for (const char* text : {"-", ".", "0", "N", "NAN1", "-999"}) {
    EXPECT_FALSE(is_missing(text, {})) << text;
  }
}

TEST(MissingValuesTest, AreTextsInAnyCapitalsAndNumbersInAnySpelling) {
  const CsvFormat format = with_missing({"k.A.", "-999", "1e3"});
  for (const char* text : {"", "K.a.", "-999", "-999.0", "-9.99e2", "1000", "+1000"}) {
    EXPECT_TRUE(is_missing(text, format)) << text;
  }
  for (const char* text : {"NA", "-999.5", "999", "k.a"}) {
    EXPECT_FALSE(is_missing(text, format)) << text;
  }
}

TEST_F(CsvFormatTest, ChosenMissingValuesTakeThePlaceOfTheOthers) {
  const CsvFormat format = with_missing({"-999", "-"});
  const Table table =
      read("a,k,y\n1,p,1\n-999,-999,2\n\"-999.0\",-,3\n-,NA,4\n 5 ,q,5\n\"\",\"\",6\n", format);
  EXPECT_EQ(table.num_missing, (std::vector<int64_t>{4, 3}));
  EXPECT_EQ(table.dictionaries[1], (Words{"p", "NA", "q"}));
  const Array<float> values = cells(table);
  EXPECT_EQ(values[0], 1.0F);
  for (const size_t row : {1U, 2U, 3U, 5U}) EXPECT_TRUE(std::isnan(values[2 * row])) << row;
  EXPECT_EQ(values[8], 5.0F);
  EXPECT_EQ(problem("a,y\n1,1\nNA,2\n", {.targets = test::kTarget}, format),
            "t.csv:3: column \"a\": expected a number, got \"NA\"; correct it, add it to "
            "data.missing, or list the column in data.categorical or data.ignore");
}

TEST_F(CsvFormatTest, AMissingTargetIsAnErrorThatNamesTheKey) {
  EXPECT_EQ(problem("a,y\n1,1\n2,N/A\n", {.targets = test::kTarget}),
            "t.csv:3: column \"y\": expected a target, got \"N/A\", a missing value; if it is a "
            "class, set data.missing to a list without it; else fill it in, "
            "remove the row, or drop all such rows with data.drop_rows_without_target: true");
}

TEST_F(CsvFormatTest, RowsWithoutATargetAreDroppedAndLeaveNothing) {
  const auto path = folder_.write(
      "t.csv", "k,a,y,z,id\np,,1,1,i\nq,7,NA,2,j\np,3,2,?,k\nr,4,5,6,l\n\"s\ns\",x,,?,m\n");
  const Table table = read_table({path}, {.targets = {"y", "z"}, .drop_rows_without_target = true});
  EXPECT_EQ(table.num_without_target, 3);
  EXPECT_EQ(table.targets, (TargetCells{"1", "1", "5", "6"}));
  EXPECT_EQ(table.lines, (std::vector<int64_t>{2, 5}));
  EXPECT_EQ(table.dictionaries[0], (Words{"p", "r"}));
  EXPECT_EQ(table.num_missing, (std::vector<int64_t>{0, 1, 0}));
  EXPECT_EQ(table.features.num_rows, 2);
  EXPECT_EQ(
      problem("a,y\n1,\n2,3,4\n", {.targets = test::kTarget, .drop_rows_without_target = true}),
      "t.csv:3: expected 2 fields as in the header, got 3");
  EXPECT_EQ(problem("a,y\n1,\n2,\n", {.targets = test::kTarget, .drop_rows_without_target = true}),
            "t.csv: none of the 2 rows has a target");
}

TEST_F(CsvFormatTest, PiecesSkipRowsWithoutATargetToo) {
  std::string content = "a,y\n";
  for (int i = 0; i < 40; ++i) content += std::to_string(i) + (i % 10 == 9 ? ",1\n" : ",\n");
  const std::vector<Column> columns = {{.name = "a", .fill = 0.0F}};
  TableReader pieces(
      {folder_.write("t.csv", content)},
      {.columns = columns, .targets = test::kTarget, .drop_rows_without_target = true});
  Table table;
  Floats seen;
  while (pieces.next(table, 2)) {
    for (const float value : cells(table)) seen.push_back(value);
  }
  EXPECT_EQ(seen, (Floats{9, 19, 29, 39}));
  EXPECT_EQ(pieces.num_without_target(), 36);
}

TEST_F(CsvFormatTest, DecimalCommasAreRead) {
  const CsvFormat format{.delimiter = ';', .decimal = ','};
  const Table table = read("a;b;y\n39,1;\"-0,5\";1,25\n 18 ; 1,5e2 ;2\n+3,0;,5;x,y\n", format);
  EXPECT_EQ(cells(table), (Floats{39.1F, -0.5F, 18, 150, 3, 0.5F}));
  EXPECT_EQ(table.targets, (TargetCells{"1.25", "2", "x,y"}));
}

TEST_F(CsvFormatTest, WhatCannotBeReadWithADecimalCommaIsExplained) {
  const CsvFormat format = {.delimiter = ';', .decimal = ','};
  const std::string begin = "t.csv:2: column \"a\": expected a number, got ";
  const std::string fix = "; write it with a decimal comma and without thousands separators: ";
  EXPECT_EQ(problem("a;y\n1.234,5;1\n", {.targets = test::kTarget}, format),
            begin + "\"1.234,5\"" + fix + "1234,5, or set data.thousands: \".\"");
  EXPECT_EQ(problem("a;y\n1.234;1\n", {.targets = test::kTarget}, format),
            begin + "\"1.234\"" + fix + "1234, or set data.thousands: \".\"");
  EXPECT_EQ(problem("a;y\n3.14;1\n", {.targets = test::kTarget}, format),
            begin + "\"3.14\"" + fix + "3,14");
}

TEST_F(CsvFormatTest, ADecimalCommaWhereAPointIsExpectedNamesTheKey) {
  const std::string begin = "t.csv:2: column \"a\": expected a number, got ";
  EXPECT_EQ(problem("a;y\n39,1;1\n", {.targets = test::kTarget}, {.delimiter = ';'}),
            begin + "\"39,1\"; write it without a comma: 39.1, or set data.decimal: \",\"");
  EXPECT_EQ(problem("a;y\n1.234,5;1\n", {.targets = test::kTarget}, {.delimiter = ';'}),
            begin + "\"1.234,5\"; write it without a comma: 1234.5, or set data.decimal: \",\"");
  EXPECT_EQ(problem("a,y\n\"39,1\",1\n", {.targets = test::kTarget}),
            begin + "\"39,1\"; write it without a comma: 39.1");
  const std::vector<Column> columns = {{.name = "a", .fill = 0.0F}};
  const auto path = folder_.write("t.csv", "a;b\n39,1;2\n");
  EXPECT_TRUE(
      std::string(test::error_of([&] {
                    read_table_as(
                        {path, {.delimiter = ';'}},
                        {.columns = columns, .targets = {}, .delimiter_option = "--delimiter "});
                  }).what())
          .ends_with("write it without a comma: 39.1, or use --decimal ,"));
}

TEST_F(CsvFormatTest, AnyCharacterCanBeTheDelimiter) {
  EXPECT_EQ(cells(read("a|b|y\n1|\"2\"|3\n", {.delimiter = '|'})), (Floats{1, 2}));
  EXPECT_EQ(cells(read("a b y\n1 2 3\n", {.delimiter = ' '})), (Floats{1, 2}));
  EXPECT_EQ(problem("a|y\n1|3\n", {.targets = test::kTarget}),
            "t.csv:1: with the delimiter comma there is only one column, \"a|y\"; did you mean "
            "data.delimiter: '|'?");
}

TEST_F(CsvFormatTest, AFirstLineOfExcelNamesTheDelimiter) {
  for (const char* text : {"sep=;\na;y\n1;2\n", "\xEF\xBB\xBFsep=;\r\na;y\r\n1;2\r\n"}) {
    const Table table = read(text, {});
    EXPECT_EQ(cells(table), Floats{1}) << text;
    EXPECT_EQ(table.lines, std::vector<int64_t>{3}) << text;
  }
  EXPECT_EQ(read("sep=a,y\n1,2\n", {}).feature_names, Words{"sep=a"});
}

TEST(CsvDelimiterTest, FollowsTheChoiceAndElseTheExtension) {
  EXPECT_EQ(csv_delimiter("auto", "a.csv"), ',');
  EXPECT_EQ(csv_delimiter("auto", "a.TSV"), '\t');
  EXPECT_EQ(csv_delimiter("auto", "a.tab"), '\t');
  EXPECT_EQ(csv_delimiter("auto", "a.tsv.gz"), '\t');
  EXPECT_EQ(csv_delimiter("auto", "tsv"), ',');
  EXPECT_EQ(csv_delimiter("auto", "a.csv", ','), ';');
  EXPECT_EQ(csv_delimiter("comma", "a.tsv"), ',');
  EXPECT_EQ(csv_delimiter("semicolon", "a.csv"), ';');
  EXPECT_EQ(csv_delimiter("tab", "a.csv"), '\t');
  EXPECT_EQ(csv_delimiter("|", "a.tsv"), '|');
}

TEST_F(CsvFormatTest, GzippedTablesAreReadByTheirContent) {
  std::string content = "a,k,y\n";
  for (int i = 0; i < 100'000; ++i) content += std::to_string(i) + ",p,1\n";
  const Table plain = read_table({folder_.write("t.csv", content)}, {.targets = test::kTarget});
  for (const char* name : {"t.csv.gz", "other"}) {
    const auto path = folder_.write(name, test::gzipped(content));
    const Table packed = read_table({path}, {.targets = test::kTarget});
    EXPECT_EQ(cells(packed), cells(plain));
    EXPECT_EQ(packed.fingerprints.front().num_bytes, std::filesystem::file_size(path));
  }
}

TEST_F(CsvFormatTest, ADamagedGzipFileIsAnError) {
  const std::string packed = test::gzipped("a,y\n1,2\n3,4\n");
  const auto message = [&](const std::string& content) {
    return problem(content, {.targets = test::kTarget});
  };
  EXPECT_EQ(message(packed.substr(0, packed.size() - 3)),
            "t.csv: the gzip file is truncated; download or copy it again");
  EXPECT_EQ(message(packed.substr(0, 10) + std::string(100, '\xFF')),
            "t.csv: the gzip file is damaged; download or copy it again");
}

}  // namespace
}  // namespace trainer::data
