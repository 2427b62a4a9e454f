// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/text/print_safely.h"

#include <gtest/gtest.h>

#include "trainer/base/text/json.h"

namespace trainer {
namespace {

TEST(PrintSafelyTest, WhatMovesTheCursorOrReordersTextIsEscaped) {
  EXPECT_EQ(safe_for_terminal("a\x1b[31mb\a\r"), "a\\x1b[31mb\\x07\\x0d");
  EXPECT_EQ(safe_for_terminal(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(safe_for_terminal("\x7f\u0085\u009b[2J"), "\\u007f\\u0085\\u009b[2J");
  EXPECT_EQ(safe_for_terminal("\u202Etxt.exe\u2066\u061C\u2069\u202C"),
            "\\u202etxt.exe\\u2066\\u061c\\u2069\\u202c");
  EXPECT_EQ(safe_for_terminal("Latin-1: \x9b[2J \xe9"), "Latin-1: \\x9b[2J \xe9");
}

TEST(PrintSafelyTest, OtherTextsStayAsTheyAre) {
  for (const char* text :
       {"", "a line\n\tand another\n", "Stra\u00DFe, \u6F22\u5B57, \u05E9\u05DC",
        "\u0645\u06CC\u200C\u062E\u0648\u0627\u0647\u0645", "\U0001F469\u200D"}) {
    EXPECT_EQ(safe_for_terminal(text), text);
  }
}

TEST(PrintSafelyTest, JsonKeepsItsValues) {
  const Json json = {{"note", "\x1b[31m \u009b \u202E \x7f \n"}};
  const std::string shown = safe_for_terminal(json.dump(2));
  EXPECT_EQ(shown.find_first_of("\x1b\x7f"), std::string::npos);
  EXPECT_EQ(shown.find("\u009b"), std::string::npos);
  EXPECT_EQ(parse_json(shown), json);
}

}  // namespace
}  // namespace trainer
