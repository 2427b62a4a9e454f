// SPDX-License-Identifier: Apache-2.0
#include "table/source/number_text.h"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/csv_folder.h"

namespace trainer::data {
namespace {

using Floats = std::vector<float>;

CsvFormat marks(char decimal, char thousands) {
  return {.decimal = decimal, .thousands = thousands};
}

TEST(NumberTextTest, DigitsMayStandInGroupsOfThree) {
  EXPECT_EQ(number_in("1,325.26", marks('.', ',')), 1325.26);
  EXPECT_EQ(number_in("-1,234,567", marks('.', ',')), -1234567);
  EXPECT_EQ(number_in("1325.26", marks('.', ',')), 1325.26);
  EXPECT_EQ(number_in("1.325,26", marks(',', '.')), 1325.26);
  EXPECT_EQ(number_in("1.325", marks(',', '.')), 1325);
  EXPECT_EQ(number_in("1 325,26", marks(',', ' ')), 1325.26);
  EXPECT_EQ(number_in("1\u00A0325\u202F000", marks(',', ' ')), 1325000);
  EXPECT_EQ(number_in("1'325.26", marks('.', '\'')), 1325.26);
  for (const char* text :
       {"1,32", "1,3256", "1234,567", "0,234", ",234", "1,234,", "1.5,000", ","}) {
    EXPECT_EQ(number_in(text, marks('.', ',')), std::nullopt) << text;
  }
  EXPECT_EQ(number_in("1,325", marks('.', '\0')), std::nullopt);
}

TEST(NumberTextTest, AnExponentIsNoGroup) {
  EXPECT_EQ(rewritten_number("3.5e38", marks(',', '\0')), "3,5e38");
  EXPECT_EQ(rewritten_number("3,5e38", marks('.', '\0')), "3.5e38");
  EXPECT_EQ(rewritten_number("1.234,5", marks('.', '\0')), "1234.5");
}

TEST(NumberTextTest, AUnitStandsBehindOrBefore) {
  const auto parts = [](std::string_view text) {
    const auto found = split_unit(text);
    return found ? found->unit + " " + found->number : "none";
  };
  EXPECT_EQ(parts("12.5%"), "#% 12.5");
  EXPECT_EQ(parts("12.5 %"), "#% 12.5");
  EXPECT_EQ(parts("-$1,200.00"), "$# -1,200.00");
  EXPECT_EQ(parts("3 \u20AC"), "#\u20AC 3");
  EXPECT_EQ(parts("CHF 3"), "CHF# 3");
  EXPECT_EQ(parts("12"), "none");
  EXPECT_EQ(parts(""), "none");
}

class UnitsTest : public test::CsvFolderTest {};

TEST_F(UnitsTest, AColumnOfOneUnitIsNumeric) {
  const Table table = read("a,b,y\n10%,$5,p\n2.5%,-$7.5,q\n,$1,q\n");
  EXPECT_EQ(table.feature_names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(table.columns[0].kind, ColumnKind::kNumeric);
  EXPECT_EQ(table.columns[0].unit, "#%");
  EXPECT_EQ(table.columns[1].unit, "$#");
  const auto& cells = std::get<Array<float>>(table.features.values);
  EXPECT_EQ(Floats(cells.begin(), cells.begin() + 4), (Floats{10, 5, 2.5, -7.5}));
}

TEST_F(UnitsTest, AColumnOfSeveralUnitsIsText) {
  EXPECT_EQ(read("a,b,y\n10%,1,p\n$5,2,q\n").columns[0].kind, ColumnKind::kCategorical);
  EXPECT_EQ(read("a,b,y\n10%,1,p\n0.05,2,q\n7%,2,q\n").columns[0].kind, ColumnKind::kCategorical);
}

TEST_F(UnitsTest, ANumberWithoutTheUnitOfItsColumnIsAnError) {
  std::string text = "a,y\n";
  for (int i = 0; i < 300; ++i) text += fmt::format("{}%,p\n", i);
  EXPECT_EQ(
      problem(text + "0.5,q\n"),
      "t.csv:302: column \"a\": expected a number such as 12%, got \"0.5\"; correct it, add it "
      "to data.missing, or list the column in data.categorical or data.ignore");
  EXPECT_EQ(
      problem("a,y\n1,p\n2,q\n3%,q\n"),
      "t.csv:4: column \"a\": expected a number, got \"3%\"; write it without the unit: 3, or "
      "write all cells of the column with it");
}

TEST_F(UnitsTest, BlanksInsideQuotesAreNoPartOfANumber) {
  const Table table = read("a,b,y\n\" 34\",\"34.58 \",p\n\"12\",\" 1e4 \",q\n\" NA \",\" \",q\n");
  EXPECT_EQ(table.columns[0].kind, ColumnKind::kNumeric);
  EXPECT_EQ(std::get<Array<float>>(table.features.values)[0], 34);
  EXPECT_EQ(std::get<Array<float>>(table.features.values)[1], 34.58F);
  EXPECT_EQ(table.num_missing[0], 1);
}

}  // namespace
}  // namespace trainer::data
