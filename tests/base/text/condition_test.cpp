// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/text/condition.h"

#include <map>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "support/error_of.h"

namespace trainer {
namespace {

bool holds(const std::string& text) {
  const std::map<std::string, Value> values = {{"a", 2.0}, {"b", -1.0}, {"t", "Two Words"}};
  const Condition condition = parse_condition(
      text,
      {.origin = "--if", .full_name = [](std::string_view name) { return std::string(name); }});
  return condition([&](const std::string& name) {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  });
}

TEST(ConditionTest, AndBindsMoreThanOr) {
  EXPECT_TRUE(holds("a>1 or a>3 and b>0"));
  EXPECT_FALSE(holds("(a>1 or a>3) and b>0"));
  EXPECT_TRUE(holds("not a>3 and b<0"));
  EXPECT_FALSE(holds("not (a>1 and b<0)"));
}

TEST(ConditionTest, NumbersAreComparedAsNumbers) {
  EXPECT_TRUE(holds("a=2.00"));
  EXPECT_TRUE(holds("a<10"));
  EXPECT_TRUE(holds("b>=-1e0"));
  EXPECT_FALSE(holds("a!=2"));
}

TEST(ConditionTest, TextsMayBeQuotedAndSearched) {
  EXPECT_TRUE(holds("t='Two Words'"));
  EXPECT_TRUE(holds("t~word"));
}

TEST(ConditionTest, AComparisonWithNothingIsFalse) {
  EXPECT_FALSE(holds("c>0"));
  EXPECT_FALSE(holds("c<=0"));
  EXPECT_TRUE(holds("not c>0"));
}

TEST(ConditionTest, TheFlagIsNamedInMessages) {
  EXPECT_EQ(test::message_of(ErrorKind::kUsage, [] { holds("a>1 b"); }),
            "--if \"a>1 b\": expected \"and\" or \"or\" before \"b\"");
}

}  // namespace
}  // namespace trainer
