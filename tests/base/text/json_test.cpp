// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/text/json.h"

#include <gtest/gtest.h>

namespace trainer {
namespace {

TEST(JsonTest, ObjectsKeepTheOrderOfTheirEntries) {
  EXPECT_EQ(parse_json(R"({"b": 1, "a": [2.5, "x", null]})").dump(),
            R"({"b":1,"a":[2.5,"x",null]})");
}

TEST(JsonTest, TextThatIsNotValidIsNullOrThrown) {
  for (const char* text : {"", "{", "{\"a\": }", "1 2", "nul"}) {
    EXPECT_TRUE(parse_json_or_null(text).is_null()) << text;
    EXPECT_THROW(parse_json(text), Json::parse_error) << text;
  }
  EXPECT_EQ(parse_json_or_null("[1]"), Json({1}));
}

}  // namespace
}  // namespace trainer
