// SPDX-License-Identifier: Apache-2.0
#include "trainer/core/text_table.h"

#include <gtest/gtest.h>

namespace trainer {
namespace {

TEST(TextTableTest, ColumnsAreAsWideAsTheirLongestCell) {
  EXPECT_EQ(text_table({{"name", "rows"}, {"a", "1,000,000"}, {"longer", "7"}}),
            "name         rows\n"
            "a       1,000,000\n"
            "longer          7\n");
}

TEST(TextTableTest, CharactersCountAndNotBytes) {
  EXPECT_EQ(text_table({{"\xC3\xA9\xC3\xA9", "1"}, {"ab", "2"}}), "\xC3\xA9\xC3\xA9  1\nab  2\n");
}

TEST(TextTableTest, LinesEndWithoutSpaces) {
  EXPECT_EQ(text_table({{"a"}, {"longer"}, {"b", "1"}}), "a\nlonger\nb       1\n");
}

TEST(TextTableTest, WhatIsTooLongIsCutBetweenCharacters) {
  EXPECT_EQ(shortened("abcd", 4), "abcd");
  EXPECT_EQ(shortened("abcde", 4), "abc~");
  EXPECT_EQ(shortened("\xC3\xA9\xC3\xA9\xC3\xA9", 2), "\xC3\xA9~");
  EXPECT_EQ(shortened("", 4), "");
}

}  // namespace
}  // namespace trainer
