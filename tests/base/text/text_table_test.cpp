// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/text/text_table.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/base/text/document.h"

namespace trainer {
namespace {

/// The text of a table whose titles are the first row, and whose first column is at the left.
std::string text_table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<TableColumn> columns;
  for (const std::string& title : rows.front()) {
    columns.push_back({"", title, columns.empty() ? Align::kLeft : Align::kRight});
  }
  Table table(std::move(columns));
  for (std::size_t i = 1; i < rows.size(); ++i) table.add({rows[i].begin(), rows[i].end()});
  return table.text();
}

TEST(TextTableTest, ColumnsAreAsWideAsTheirLongestCell) {
  EXPECT_EQ(text_table({{"name", "rows"}, {"a", "1,000,000"}, {"longer", "7"}}),
            "name         rows\n"
            "a       1,000,000\n"
            "longer          7\n");
}

TEST(TextTableTest, CharactersCountAndNotBytes) {
  EXPECT_EQ(text_table({{"\xC3\xA9\xC3\xA9", "1"}, {"ab", "2"}}), "\xC3\xA9\xC3\xA9  1\nab  2\n");
}

TEST(TextTableTest, WideCharactersCountTwiceAndJoinedOnesNotAtAll) {
  EXPECT_EQ(display_width("\u6771\u4EAC"), 4U);              // two ideographs
  EXPECT_EQ(display_width("\uD55C\uAE00"), 4U);              // two Hangul syllables
  EXPECT_EQ(display_width("\uFF21"), 2U);                    // a fullwidth letter
  EXPECT_EQ(display_width("\uFF71"), 1U);                    // a halfwidth one
  EXPECT_EQ(display_width("e\u0301"), 1U);                   // a combining accent
  EXPECT_EQ(display_width("\u0E01\u0E34"), 1U);              // a Thai letter with its vowel
  EXPECT_EQ(display_width("\u200B\u200D"), 0U);              // format characters
  EXPECT_EQ(display_width("\U0001F600"), 2U);                // an emoji
  EXPECT_EQ(display_width("\U00020000"), 2U);                // an ideograph of plane 2
  EXPECT_EQ(display_width("\u00C4\u0416\u05D0\u2500"), 4U);  // plain letters and lines
  EXPECT_EQ(display_width("\xFF\xC3"), 2U);                  // bytes that are no UTF-8
  EXPECT_EQ(text_table({{"\u6771\u4EAC", "1"}, {"abcde", "2"}}), "\u6771\u4EAC   1\nabcde  2\n");
  EXPECT_EQ(shortened("\u6771\u4EAC\u90FD", 6), "\u6771\u4EAC\u90FD");
  EXPECT_EQ(shortened("\u6771\u4EAC\u90FD", 5), "\u6771...");
  EXPECT_EQ(shortened("\u6771\u4EAC\u90FD", 4), "...");
}

TEST(TextTableTest, LinesEndWithoutSpaces) {
  EXPECT_EQ(text_table({{"a", ""}, {"longer"}, {"b", "1"}}), "a\nlonger\nb       1\n");
}

TEST(TextTableTest, WhatIsTooLongIsCutBetweenCharacters) {
  EXPECT_EQ(shortened("abcd", 4), "abcd");
  EXPECT_EQ(shortened("abcde", 4), "a...");
  EXPECT_EQ(shortened("\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9", 4), "\xC3\xA9...");
  EXPECT_EQ(shortened("abcde", 2), "..");
  EXPECT_EQ(shortened("abcde", 0), "");
  EXPECT_EQ(shortened("", 4), "");
}

TEST(TextTableTest, LinesAreDividedBetweenWords) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(wrapped("", 10), Lines{""});
  EXPECT_EQ(wrapped("one two three", 7), (Lines{"one two", "three"}));
  EXPECT_EQ(wrapped("one two three", 6), (Lines{"one", "two", "three"}));
  EXPECT_EQ(wrapped("a/very/long/path is one", 6), (Lines{"a/very/long/path", "is one"}));
  EXPECT_EQ(wrapped("is 12.5 %, or 3 %", 7), (Lines{"is", "12.5 %,", "or 3 %"}));
  EXPECT_EQ(wrapped("\u6771\u4EAC \u6771\u4EAC", 9), Lines{"\u6771\u4EAC \u6771\u4EAC"});
  EXPECT_EQ(wrapped("\u6771\u4EAC \u6771\u4EAC", 8), (Lines{"\u6771\u4EAC", "\u6771\u4EAC"}));
}

TEST(TextTableTest, LabelsAndValuesAreTwoColumns) {
  EXPECT_EQ(labeled_line("rows", "7"), "rows        7");
  EXPECT_EQ(labeled_line("a long label", "7"), "a long label  7");
}

}  // namespace
}  // namespace trainer
