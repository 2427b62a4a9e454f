// SPDX-License-Identifier: Apache-2.0
#include "trainer/table/source/exact_number.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/table/schema/value_index.h"

namespace trainer::data {
namespace {

using Words = std::vector<std::string>;

TEST(ExactNumberTest, AllSpellingsOfANumberHaveOneKey) {
  for (const char* spelling : {"7", "7.0", "+7", "7e0", "7.", "70e-1", ".7e1", "0.7E+1"}) {
    EXPECT_EQ(value_key(spelling), value_key("7")) << spelling;
  }
  for (const char* zero : {"0", "0.0", "-0", "+0", "0e5", "-0.00"}) {
    EXPECT_EQ(value_key(zero), "0") << zero;
  }
  EXPECT_EQ(value_key("123456789012345678901234567890"),
            value_key("1.2345678901234567890123456789e29"));
  EXPECT_EQ(value_key("-2.50"), value_key("-25e-1"));
}

TEST(ExactNumberTest, NoTwoNumbersHaveOneKey) {
  const Words different = {"9007199254740992",
                           "9007199254740993",
                           "0.1",
                           "0.10000000000000001",
                           "1e400",
                           "1e401",
                           "-1",
                           "1",
                           "07",
                           "7",
                           "007",
                           "7e",
                           "x",
                           "",
                           "1e-400"};
  for (size_t i = 0; i < different.size(); ++i) {
    for (size_t j = 0; j < i; ++j) EXPECT_NE(value_key(different[i]), value_key(different[j]));
  }
  EXPECT_EQ(number_key("007"), number_key("7"));
  EXPECT_EQ(number_key("007x"), std::nullopt);
  EXPECT_EQ(value_key("007x"), "007x");
}

TEST(ExactNumberTest, NumbersAreInTheirOrder) {
  Words numbers = {"10000000000000001",
                   "-1",
                   "inf",
                   "9999999999999999",
                   "0",
                   "1e-3",
                   "10000000000000000",
                   "-1e2",
                   "-inf",
                   "0.5",
                   "0.25"};
  sort_values(numbers);
  EXPECT_EQ(numbers, (Words{"-inf", "-1e2", "-1", "0", "1e-3", "0.25", "0.5", "9999999999999999",
                            "10000000000000000", "10000000000000001", "inf"}));
  Words texts = {"9", "10", "x"};
  sort_values(texts);
  EXPECT_EQ(texts, (Words{"10", "9", "x"}));
}

TEST(ValueIndexTest, AnotherSpellingIsFoundWhereItMeansOneValue) {
  const Words codes = {"007", "07", "7", "12"};
  const ValueIndex index(codes);
  EXPECT_EQ(index.find("007"), 0U);
  EXPECT_EQ(index.find("07.0"), 1U);
  EXPECT_EQ(index.find("7.0"), 2U);
  EXPECT_EQ(index.find("+7"), 2U);
  EXPECT_EQ(index.find("0007"), std::nullopt);
  EXPECT_EQ(index.find("012"), 3U);
  EXPECT_EQ(index.find("12x"), std::nullopt);
}

TEST(ValueIndexTest, TextsAndBooleansHaveRulesOfTheirOwn) {
  const Words texts = {"7", "x", "true"};
  EXPECT_EQ(ValueIndex(texts).find("7.0"), std::nullopt);
  EXPECT_EQ(ValueIndex(texts).find("True"), std::nullopt);
  const Words booleans = {"False", "True"};
  EXPECT_EQ(ValueIndex(booleans).find("true"), 1U);
  EXPECT_EQ(ValueIndex(booleans).find("FALSE"), 0U);
  EXPECT_EQ(distinct_values({"2.0", "1", "2", "1e0"}), (Words{"2", "1"}));
  EXPECT_EQ(distinct_values({"2.0", "x", "2"}), (Words{"2.0", "x", "2"}));
}

}  // namespace
}  // namespace trainer::data
