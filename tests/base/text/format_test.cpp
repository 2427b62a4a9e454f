// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/text/format.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/base/text/parse.h"

namespace trainer {
namespace {

TEST(ShortestTest, IsWhatAPersonWouldWrite) {
  EXPECT_EQ(shortest(0.001), "0.001");
  EXPECT_EQ(shortest(0.0001), "0.0001");
  EXPECT_EQ(shortest(1e-05), "1e-05");
  EXPECT_EQ(shortest(3.0), "3");
  EXPECT_EQ(shortest(100000.0), "100000");
  EXPECT_EQ(shortest(-0.5), "-0.5");
  EXPECT_EQ(shortest(0.1 + 0.2), "0.30000000000000004");
}

TEST(ShortestTest, ReadsBackIdentical) {
  for (const double value : {0.1, 1.0 / 3, 1e300, 5e-324, 123456789.125, -2.5e-7, 1e16, 1e15}) {
    EXPECT_EQ(parse_double(shortest(value)), value) << shortest(value);
  }
}

TEST(HumanTextTest, SeparatesThousands) {
  EXPECT_EQ(with_thousands(0), "0");
  EXPECT_EQ(with_thousands(999), "999");
  EXPECT_EQ(with_thousands(1797), "1,797");
  EXPECT_EQ(with_thousands(-123456), "-123,456");
  EXPECT_EQ(with_thousands(std::numeric_limits<int64_t>::min()), "-9,223,372,036,854,775,808");
}

TEST(HumanTextTest, ShowsDurations) {
  EXPECT_EQ(human_duration(0), "0 ms");
  EXPECT_EQ(human_duration(2.41e-5), "24 us");
  EXPECT_EQ(human_duration(0.00096), "1 ms");
  EXPECT_EQ(human_duration(0.0123), "12 ms");
  EXPECT_EQ(human_duration(3.21), "3.2 s");
  EXPECT_EQ(human_duration(59.94), "59.9 s");
  EXPECT_EQ(human_duration(59.96), "1 min 00 s");
  EXPECT_EQ(human_duration(245), "4 min 05 s");
  EXPECT_EQ(human_duration(3599.7), "1 h 00 min");
  EXPECT_EQ(human_duration(7380), "2 h 03 min");
  EXPECT_EQ(human_duration(-1), "0 ms");
  EXPECT_EQ(human_duration(std::nan("")), "unknown");
}

TEST(HumanTextTest, ShowsBytes) {
  EXPECT_EQ(human_bytes(512), "512 B");
  EXPECT_EQ(human_bytes(1536), "1.5 KiB");
  EXPECT_EQ(human_bytes(1024 * 1024 - 1), "1.0 MiB");
  EXPECT_EQ(human_bytes(uint64_t{2} << 30), "2.0 GiB");
  EXPECT_EQ(human_bytes(std::numeric_limits<uint64_t>::max()), "16.0 EiB");
}

TEST(InQuotesTest, EscapesWhatWouldConfuseATerminal) {
  EXPECT_EQ(in_quotes("abc"), "\"abc\"");
  EXPECT_EQ(in_quotes("a\"b\\c"), "\"a\\\"b\\\\c\"");
  EXPECT_EQ(in_quotes("a\nb\tc\rd\x1b[31m\x7f"), "\"a\\nb\\tc\\rd\\x1b[31m\\x7f\"");
}

TEST(InQuotesTest, CutsAfterSixtyCharactersButNeverInsideOne) {
  EXPECT_EQ(in_quotes(std::string(60, 'a')), '"' + std::string(60, 'a') + '"');
  EXPECT_EQ(in_quotes(std::string(61, 'a')), '"' + std::string(60, 'a') + "...\"");
  std::string accents, euros;
  for (int i = 0; i < 60; ++i) {
    accents += "\xC3\xA9";
    euros += "\xE2\x82\xAC";
  }
  EXPECT_EQ(in_quotes(accents), '"' + accents + '"');
  EXPECT_EQ(in_quotes(euros + "x"), '"' + euros + "...\"");
}

TEST(InQuotesTest, ShowsBytesThatAreNoUtf8AsEscapes) {
  EXPECT_EQ(in_quotes("caf\xE9"), "\"caf\\xe9\"");                       // Latin-1
  EXPECT_EQ(in_quotes("\xC3"), "\"\\xc3\"");                             // cut off
  EXPECT_EQ(in_quotes("\xC0\xAF"), "\"\\xc0\\xaf\"");                    // overlong
  EXPECT_EQ(in_quotes("\xED\xA0\x80"), "\"\\xed\\xa0\\x80\"");           // half of a surrogate pair
  EXPECT_EQ(in_quotes("\xF0\x9F\x98\x80"), "\"\xF0\x9F\x98\x80\"");      // an emoji is fine
  EXPECT_EQ(in_quotes("\xF4\x90\x80\x80"), "\"\\xf4\\x90\\x80\\x80\"");  // beyond U+10FFFF
}

TEST(JoinedTest, ReadsLikeASentence) {
  EXPECT_EQ(joined({}), "");
  EXPECT_EQ(joined(std::vector<std::string>{"a"}), "a");
  EXPECT_EQ(joined(std::vector<std::string>{"a", "b"}), "a and b");
  EXPECT_EQ(joined(std::vector<std::string>{"a", "b", "c"}, " or "), "a, b or c");
}

// They look like spaces, or like nothing.
TEST(InQuotesTest, ShowsInvisibleCharactersAsEscapes) {
  EXPECT_EQ(in_quotes("39.1\xC2\xA0"), "\"39.1\\u00a0\"");
  EXPECT_EQ(in_quotes("a\xE2\x80\xAF\xE2\x80\x8B\xEF\xBB\xBF"), "\"a\\u202f\\u200b\\ufeff\"");
  EXPECT_EQ(in_quotes("\xE3\x80\x80\xE6\x9D\xB1\xF0\x9F\x98\x80"),
            "\"\\u3000\xE6\x9D\xB1\xF0\x9F\x98\x80\"");
}

TEST(FormatTest, PreciseDurationsHaveThreeDigits) {
  EXPECT_EQ(precise_duration(0), "0.00 us");
  EXPECT_EQ(precise_duration(1.234e-6), "1.23 us");
  EXPECT_EQ(precise_duration(45.67e-6), "45.7 us");
  EXPECT_EQ(precise_duration(999.4e-6), "999 us");
  EXPECT_EQ(precise_duration(999.7e-6), "1.00 ms");
  EXPECT_EQ(precise_duration(9.996e-3), "10.0 ms");
  EXPECT_EQ(precise_duration(0.1234), "123 ms");
  EXPECT_EQ(precise_duration(0.9997), "1.00 s");
  EXPECT_EQ(precise_duration(321.4), "321 s");
}

}  // namespace
}  // namespace trainer
