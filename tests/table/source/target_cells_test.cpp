// SPDX-License-Identifier: Apache-2.0
#include "trainer/table/source/target_cells.h"

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/table/source/string_interner.h"

namespace trainer::data {
namespace {

using Words = std::vector<std::string>;
using Written = TargetCells::Written;

TEST(TargetCellsTest, KeepNumbersAndHowTheyAreWritten) {
  const TargetCells cells{"1.50", "cat", "1.5", "cat"};
  EXPECT_EQ(cells.size(), 4U);
  EXPECT_EQ(cells.number(0), 1.5);
  EXPECT_TRUE(std::isnan(cells.number(1)));
  EXPECT_EQ(cells.text(0), "1.50");
  EXPECT_EQ(cells.labels(), (Words{"1.50", "cat", "1.5"}));
  EXPECT_EQ(cells.label(3), 1U);
}

TEST(StringInternerTest, TellsTextsOfAnyLengthApart) {
  std::vector<std::string> texts;
  for (size_t size = 0; size < 40; ++size) {
    texts.emplace_back(size, 'a');
    for (size_t at = 0; at < size; ++at) {  // in each place another byte
      texts.emplace_back(size, 'a');
      texts.back()[at] = static_cast<char>('b' + at);
      texts.emplace_back(size, 'a');
      texts.back()[at] = '\0';
    }
  }
  StringInterner interner;
  for (int round = 0; round < 3; ++round) {
    for (size_t i = 0; i < texts.size(); ++i) {
      const auto [number, is_new] = interner.intern(texts[i]);
      ASSERT_EQ(number, i) << round;
      ASSERT_EQ(is_new, round == 0);
      const bool is_short = !texts[i].empty() && texts[i].size() <= 16;
      ASSERT_EQ(interner.recent(texts[i]).has_value(), is_short);
      ASSERT_EQ(interner.recent(texts[i]).value_or(i), i);
    }
  }
  EXPECT_EQ(interner.take(), texts);
  EXPECT_FALSE(interner.recent("a"));
}

TEST(TargetCellsTest, NumbersAreWrittenAsTheirTypeIs) {
  TargetCells cells;
  cells.resize(4);
  cells.set(0, 3, Written::kWhole);
  cells.set(1, -0.25, Written::kFloating);
  cells.set(2, 1e20, Written::kFloating);
  cells.set(3, 7, Written::kFloating);
  EXPECT_EQ(cells, (TargetCells{"3", "-0.25", "1e+20", "7.0"}));
}

TEST(TargetCellsTest, ACellThatIsSetAgainHasItsLastText) {
  TargetCells cells{"a", "b"};
  cells.set(0, "c");
  cells.resize(1);
  EXPECT_EQ(cells, TargetCells{"c"});
  cells.clear();
  EXPECT_TRUE(cells.empty());
  EXPECT_TRUE(cells.labels().empty());
}

/// 0.00, 0.25, 0.50, ...: as many as that.
TargetCells quarters(size_t count, bool expects_labels = false) {
  TargetCells cells;
  if (expects_labels) cells.expect_labels();
  for (size_t i = 0; i < count; ++i) {
    cells.push_back(fmt::format("{:.2f}", static_cast<double>(i) / 4));
  }
  return cells;
}

TEST(TargetCellsTest, ManyDifferentNumbersAreNoLabels) {
  EXPECT_TRUE(quarters(TargetCells::kMaxLabels).has_labels());
  TargetCells cells = quarters(TargetCells::kMaxLabels + 1);
  EXPECT_FALSE(cells.has_labels());
  EXPECT_EQ(cells.number(2), 0.5);
  EXPECT_EQ(cells.text(2), "0.5");
  cells.push_back("cat");
  cells.resize(cells.size() + 1);
  cells.set(cells.size() - 1, 8, Written::kWhole);
  EXPECT_EQ(cells.text(cells.size() - 2), "cat");
  EXPECT_EQ(cells.number(cells.size() - 1), 8);
  cells.resize(1);
  cells.push_back("7");
  EXPECT_EQ(cells.text(1), "7");
}

TEST(TargetCellsTest, ManyLabelsAreKeptWhereTheyAreExpectedOrNoNumbers) {
  const TargetCells expected = quarters(TargetCells::kMaxLabels + 1, true);
  EXPECT_TRUE(expected.has_labels());
  EXPECT_EQ(expected.text(2), "0.50");
  TargetCells words{"cat"};
  for (size_t i = 0; i <= TargetCells::kMaxLabels; ++i) words.push_back(fmt::format("{}", i));
  EXPECT_TRUE(words.has_labels());
  EXPECT_EQ(words.labels().size(), TargetCells::kMaxLabels + 2);
}

}  // namespace
}  // namespace trainer::data
