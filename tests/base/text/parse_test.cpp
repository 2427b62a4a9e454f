// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/text/parse.h"

#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace trainer {
namespace {

TEST(ParseDoubleTest, ReadsNumbers) {
  EXPECT_EQ(parse_double("1.5"), 1.5);
  EXPECT_EQ(parse_double("-1e-5"), -1e-5);
  EXPECT_EQ(parse_double("+2"), 2.0);
  EXPECT_EQ(parse_double(".5"), 0.5);
  EXPECT_EQ(parse_double("inf"), std::numeric_limits<double>::infinity());
}

TEST(ParseDoubleTest, RoundsWhatIsBeyondTheRange) {
  EXPECT_EQ(parse_double("1e999"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(parse_double("-1e999"), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(parse_double("1e-999"), 0.0);
}

TEST(ParseDoubleTest, RefusesEverythingElse) {
  for (const char* text : {"", " 1", "1 ", "1,5", "0x10", "nan", "abc", "1.5x", "+-1", "++1", "-",
                           "+", ".", "1e", "--1", "1_000"}) {
    EXPECT_EQ(parse_double(text), std::nullopt) << text;
  }
}

TEST(ParseIntTest, ReadsWholeNumbersThatFit) {
  EXPECT_EQ(parse_int("42"), 42);
  EXPECT_EQ(parse_int("+42"), 42);
  EXPECT_EQ(parse_int("-9223372036854775808"), std::numeric_limits<int64_t>::min());
  for (const char* text : {"", "9223372036854775808", "1.0", "1e3", " 1", "0x1", "+-1"}) {
    EXPECT_EQ(parse_int(text), std::nullopt) << text;
  }
}

TEST(LowerCaseTest, ChangesAsciiLettersOnly) {
  EXPECT_EQ(lower_case("AbZ_9\xC3\x89"), "abz_9\xC3\x89");
}

TEST(MatchesAnyTest, StarsAndQuestionMarksStandForText) {
  const std::vector<std::string> patterns = {"layers.0.*", "norms.?.bias"};
  EXPECT_TRUE(matches_any("layers.0.weight", patterns));
  EXPECT_TRUE(matches_any("norms.3.bias", patterns));
  EXPECT_FALSE(matches_any("layers.1.weight", patterns));
  EXPECT_FALSE(matches_any("norms.12.bias", patterns));
  EXPECT_FALSE(matches_any("my.layers.0.weight", patterns));
  EXPECT_FALSE(matches_any("layers.0.weight", {}));
}

TEST(ParseTest, TimesHaveAUnitOrAreSeconds) {
  EXPECT_EQ(parse_duration("90"), 90);
  EXPECT_EQ(parse_duration("60s"), 60);
  EXPECT_EQ(parse_duration("1.5m"), 90);
  EXPECT_EQ(parse_duration("2h"), 7200);
  EXPECT_EQ(parse_duration("0.5d"), 43200);
  for (const char* text : {"", "s", "1w", "ten", "1 m", "m5"}) {
    EXPECT_EQ(parse_duration(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace trainer
