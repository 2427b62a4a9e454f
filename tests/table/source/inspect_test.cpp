// SPDX-License-Identifier: Apache-2.0
#include "trainer/table/source/inspect.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/base/error.h"

#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace trainer::data {
namespace {

TableFacts inspect(const std::string& text, const std::string& name = "t.csv") {
  const test::TemporaryFolder folder;
  return inspect_table({folder.write(name, text)});
}

std::string message_of(const std::string& text) {
  const test::TemporaryFolder folder;
  const auto file = folder.write("t.csv", text);
  const std::string message = test::message_of(ErrorKind::kData, [&] { inspect_table({file}); });
  return message.substr(message.find("t.csv"));
}

TEST(InspectCsvTest, CountsNumbersTextsAndMissingCells) {
  const TableFacts table = inspect("a,b\n1,x\n2.5,\nNA,7\n-4,\"y\"\n");
  EXPECT_EQ(table.num_rows, 4);
  ASSERT_EQ(table.columns.size(), 2U);
  const ColumnFacts& a = table.columns[0];
  EXPECT_EQ(a.name, "a");
  EXPECT_EQ(a.num_numbers, 3);
  EXPECT_EQ(a.num_texts, 0);
  EXPECT_EQ(a.num_missing, 1);
  EXPECT_FALSE(a.is_whole);
  EXPECT_EQ(a.min, -4);
  EXPECT_EQ(a.max, 2.5);
  EXPECT_EQ(a.num_distinct, 0);  // not counted
  EXPECT_TRUE(a.labels.empty());
  const ColumnFacts& b = table.columns[1];
  EXPECT_EQ(b.num_numbers, 1);
  EXPECT_EQ(b.num_texts, 2);
  EXPECT_EQ(b.num_missing, 1);
  EXPECT_EQ(b.num_distinct, 3);
  EXPECT_EQ(b.first_value, "x");
  EXPECT_EQ(b.first_non_number, "x");
  EXPECT_EQ(b.first_non_number_line, 2);
}

TEST(InspectCsvTest, LabelsAreCountedInTheirOrder) {
  const ColumnFacts column = inspect("a,b\n2,q\n1,p\n2,q\n").columns[1];
  ASSERT_EQ(column.labels.size(), 2U);
  EXPECT_EQ(column.labels[0], (std::pair<std::string, int64_t>("q", 2)));
  EXPECT_EQ(column.labels[1], (std::pair<std::string, int64_t>("p", 1)));
  EXPECT_TRUE(column.has_repeats);
}

TEST(InspectCsvTest, SpellingsOfOneNumberAreOneLabel) {
  const ColumnFacts column = inspect("a,b\n2,7.0\n1,8\n2,7\n").columns[1];
  EXPECT_EQ(column.labels, (std::vector<std::pair<std::string, int64_t>>{{"7", 2}, {"8", 1}}));
  EXPECT_EQ(column.num_distinct, 2);
  EXPECT_TRUE(column.has_repeats);
}

TEST(InspectCsvTest, CountingNumbersAreNoticed) {
  const TableFacts table = inspect("a,b,c\n5,1,1\n6,2,2\n7,4,3.5\n");
  EXPECT_TRUE(table.columns[0].is_sequential);
  EXPECT_FALSE(table.columns[0].has_repeats);
  EXPECT_FALSE(table.columns[1].is_sequential);
  EXPECT_FALSE(table.columns[2].is_sequential);
}

TEST(InspectCsvTest, NumbersWithCommasAreTexts) {
  const ColumnFacts column = inspect("a,b\n1,\"2,5\"\n2,\"3,5\"\n").columns[1];
  EXPECT_EQ(column.num_texts, 2);
  EXPECT_EQ(column.num_with_commas, 2);
  EXPECT_EQ(column.without_commas, "2.5");
}

TEST(InspectCsvTest, CountingOfDifferentValuesEnds) {
  std::string text = "a,b\n";
  for (int i = 0; i < kMaxDistinct + 5; ++i) text += std::to_string(i * 2) + ",x\n";
  const TableFacts table = inspect(text);
  EXPECT_EQ(table.columns[0].num_distinct, kMaxDistinct);
  EXPECT_FALSE(table.columns[0].has_repeats);
  EXPECT_TRUE(table.columns[0].labels.empty());
}

TEST(InspectCsvTest, ARepeatIsSeenAfterTheCountingHasEnded) {
  std::string text = "a,b\n";
  for (int i = 0; i < kMaxDistinct + 5; ++i) text += "id" + std::to_string(i) + ",x\n";
  EXPECT_FALSE(inspect(text).columns[0].has_repeats);
  EXPECT_TRUE(inspect(text + "id7,x\n").columns[0].has_repeats);
}

TEST(InspectCsvTest, OddTextsOfAColumnAreCountedIfTheyAreFew) {
  using Texts = std::vector<std::pair<std::string, int64_t>>;
  const TableFacts table = inspect("a,b\n1,p\n-,q\nx,r\n-,s\n2,t\n");
  EXPECT_EQ(table.columns[0].odd_texts, (Texts{{"-", 2}, {"x", 1}}));
  EXPECT_TRUE(table.columns[1].odd_texts.empty());
}

TEST(InspectCsvTest, TheLeastNumberIsCountedAndTheNextOneKnown) {
  const ColumnFacts column = inspect("a,b\n5,1\n-999,1\n3,1\n-999,1\n4,1\n").columns[0];
  EXPECT_EQ(column.num_min, 2);
  EXPECT_EQ(column.next_min, 3);
}

TEST(InspectCsvTest, DecimalCommasAreFound) {
  const TableFacts table = inspect("a;b\n39,1;2\n1,5;3\n");
  EXPECT_EQ(table.decimal, ',');
  EXPECT_EQ(table.columns[0].num_numbers, 2);
  EXPECT_EQ(table.columns[0].min, 1.5);
  EXPECT_EQ(inspect("a;b\n1.234,5;2\n").decimal, ',');
  EXPECT_EQ(inspect("a;b\n1,234;2\n").decimal, '.');          // thousands
  EXPECT_EQ(inspect("a;b\n39,1;2.5\n").decimal, '.');         // both
  EXPECT_EQ(inspect("a;b\n\"1,234.5\";2,5\n").decimal, '.');  // both
  EXPECT_EQ(inspect("a,b\n\"39,1\",2\n").decimal, '.');       // the comma is the delimiter
}

TEST(InspectCsvTest, WhatIsKnownOfTheTableIsTaken) {
  const test::TemporaryFolder folder;
  const auto file = folder.write("t.csv", "a,b|c\n1,5|-\n2,5|3\n");
  const TableFacts table =
      inspect_table({file}, {.delimiter = "|", .decimal = ",", .missing = {"-"}});
  EXPECT_EQ(table.delimiter, '|');
  EXPECT_EQ(table.columns[0].max, 2.5);
  EXPECT_EQ(table.columns[1].num_missing, 1);
}

TEST(InspectCsvTest, TheDelimiterIsTheOneThatFits) {
  EXPECT_EQ(inspect("a,b\n1,2\n").delimiter, ',');
  EXPECT_EQ(inspect("a;b\n1;2\n").delimiter, ';');
  EXPECT_EQ(inspect("a;b\n1,5;2,5\n").delimiter, ';');
  EXPECT_EQ(inspect("a\tb\n1\t2\n").delimiter, '\t');
  EXPECT_EQ(inspect("\"a;b;c\",d\n\"1;2;3\",4\n").delimiter, ',');
  EXPECT_EQ(inspect("a,b\tc\n1,2\t3\n", "t.tsv").delimiter, '\t');
  EXPECT_EQ(inspect("a|b\n1|2\n").delimiter, '|');
  EXPECT_EQ(inspect("sep=;\na;b\n1;2\n").delimiter, ';');
}

TEST(InspectCsvTest, WhatIsNoTableIsRefused) {
  EXPECT_EQ(message_of("a:b\n1:2\n"),
            "t.csv:1: with the delimiter comma there is only one column, \"a:b\"; choose another "
            "with --delimiter (comma, semicolon, tab or the character itself)");
  EXPECT_EQ(message_of(""), "t.csv: the file is empty");
  EXPECT_EQ(message_of("a,b\n"), "t.csv: no data rows after the header");
  EXPECT_EQ(message_of("a,b\n1,2\n1,2,3\n"), "t.csv:3: expected 2 fields as in the header, got 3");
  EXPECT_EQ(message_of("a,b\n1,2\n1\n"), "t.csv:3: expected 2 fields as in the header, got 1");
  EXPECT_EQ(message_of("a,a\n1,2\n"),
            "t.csv:1: duplicate column \"a\", in positions 1 and 2; rename one of them");
}

}  // namespace
}  // namespace trainer::data
