// SPDX-License-Identifier: Apache-2.0
#include "trainer/core/labeled_lines.h"

#include <gtest/gtest.h>

namespace trainer {
namespace {

TEST(LabeledLinesTest, ValuesStandBelowEachOther) {
  LabeledLines lines;
  lines.add("model", "mlp");
  lines.add("", "128 neurons");
  lines.add("run folder", "runs/a");
  EXPECT_EQ(lines.text(),
            "model       mlp\n"
            "            128 neurons\n"
            "run folder  runs/a\n");
}

TEST(LabeledLinesTest, TheWidthCanBeChosen) {
  EXPECT_EQ(labeled_line("rows", "7", 6), "rows   7");
  EXPECT_EQ(labeled_line("a long label", "7", 6), "a long label 7");
  LabeledLines lines(2);
  lines.add("a", "1");
  EXPECT_EQ(lines.text(), "a  1\n");
}

}  // namespace
}  // namespace trainer
