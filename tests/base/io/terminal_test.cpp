// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/io/terminal.h"

#include <gtest/gtest.h>

namespace trainer {
namespace {

TerminalEnvironment terminal() {
  TerminalEnvironment environment;
  environment.is_terminal = true;
  environment.term = "xterm-256color";
  return environment;
}

TEST(TerminalTest, ATerminalRedrawsAndHasColours) {
  const Terminal decided = decide_terminal(terminal());
  EXPECT_TRUE(decided.redraws);
  EXPECT_TRUE(decided.colors);
}

TEST(TerminalTest, AFileGetsPlainLines) {
  const Terminal decided = decide_terminal({});
  EXPECT_FALSE(decided.redraws);
  EXPECT_FALSE(decided.colors);
}

TEST(TerminalTest, NoColorTakesTheColoursOnly) {
  TerminalEnvironment environment = terminal();
  environment.no_color = "1";
  EXPECT_TRUE(decide_terminal(environment).redraws);
  EXPECT_FALSE(decide_terminal(environment).colors);
}

TEST(TerminalTest, ForceColorGivesColoursWithoutRedrawing) {
  TerminalEnvironment environment;
  environment.force_color = "1";
  EXPECT_FALSE(decide_terminal(environment).redraws);
  EXPECT_TRUE(decide_terminal(environment).colors);
}

TEST(TerminalTest, DumbTerminalsAndCiGetPlainLines) {
  TerminalEnvironment dumb = terminal();
  dumb.term = "dumb";
  TerminalEnvironment ci = terminal();
  ci.ci = "true";
  for (const TerminalEnvironment& environment : {dumb, ci}) {
    EXPECT_FALSE(decide_terminal(environment).redraws);
    EXPECT_FALSE(decide_terminal(environment).colors);
  }
}

TEST(TerminalTest, ALocaleInUtf8HasAllCharacters) {
  for (const char* locale : {"en_GB.UTF-8", "C.utf8"}) {
    EXPECT_TRUE(decide_terminal({.locale = locale}).unicode) << locale;
  }
  for (const char* locale : {"", "C", "de_DE.ISO-8859-1"}) {
    EXPECT_FALSE(decide_terminal({.locale = locale}).unicode) << locale;
  }
}

}  // namespace
}  // namespace trainer
