// SPDX-License-Identifier: Apache-2.0

#include "cli/answer_shell.h"

#include <gtest/gtest.h>

namespace trainer::cli {
namespace {

using Words = std::vector<std::string>;

TEST(BashLineTest, SplitsWordsAndRemovesQuotes) {
  EXPECT_EQ(read_bash_line("trainer a\\ b 'c \"d' \"e 'f\\\"\\n\" g''h ", "").words,
            (Words{"trainer", "a b", "c \"d", "e 'f\"\\n", "gh", ""}));
  EXPECT_EQ(read_bash_line("trainer '' x", "x").words, (Words{"trainer", "", "x"}));
  EXPECT_EQ(read_bash_line("", "").words, Words{""});
  EXPECT_EQ(read_bash_line("trainer a\\", "a\\").words, (Words{"trainer", "a\\"}));
}

TEST(BashLineTest, KeepsWhatBashDoesNotReplace) {
  EXPECT_EQ(
      bash_text(read_bash_line("t model.activation=re", "re"), "model.activation=relu", false),
      "relu ");
  EXPECT_EQ(bash_text(read_bash_line("t a:b:c", "c"), "a:b:cd", true), "cd");
  EXPECT_EQ(bash_text(read_bash_line("t k=", ""), "k=v", false), "v ");
  EXPECT_EQ(bash_text(read_bash_line("t k", "k"), "key=", true), "key=");
  EXPECT_EQ(bash_text(read_bash_line("t ", ""), "word", false), "word ");
}

TEST(BashLineTest, WritesSpacesAndQuotesAsTheyAreTyped) {
  const std::string word = "k=it's \"a\" $b";
  EXPECT_EQ(bash_text(read_bash_line("t k=", ""), word, false), "it\\'s\\ \\\"a\\\"\\ \\$b ");
  EXPECT_EQ(bash_text(read_bash_line("t k=it\\'s\\ ", "it\\'s\\ "), word, false),
            "it\\'s\\ \\\"a\\\"\\ \\$b ");
  EXPECT_EQ(bash_text(read_bash_line("t k='", ""), word, false), "it'\\''s \"a\" $b");
  EXPECT_EQ(bash_text(read_bash_line("t \"k=it", "k=it"), word, false), "k=it's \\\"a\\\" \\$b");
}

}  // namespace

}  // namespace trainer::cli
