// SPDX-License-Identifier: Apache-2.0
#include "data/time_text.h"

#include <gtest/gtest.h>

namespace trainer::data {
namespace {

double seconds_of(std::string_view text) {
  const std::optional<Time> time = parse_time(text);
  EXPECT_TRUE(time && time->kind == TimeKind::kDate) << text;
  return time ? time->value : -1;
}

TEST(TimeTextTest, ReadsNumbersAsTheyAre) {
  EXPECT_EQ(parse_time("1700000000.5")->value, 1700000000.5);
  EXPECT_EQ(parse_time("20260301")->kind, TimeKind::kNumber);
  EXPECT_EQ(parse_time("-3")->value, -3);
}

TEST(TimeTextTest, ReadsDatesAndTimesOfDayAsSecondsInUtc) {
  EXPECT_EQ(seconds_of("1970-01-01"), 0);
  EXPECT_EQ(seconds_of("1969-12-31"), -86400);
  EXPECT_EQ(seconds_of("2024-02-29"), 1709164800);
  EXPECT_EQ(seconds_of("2024-02-29T12:30"), 1709164800 + 45000);
  EXPECT_EQ(seconds_of("2024-02-29 12:30:15"), 1709164800 + 45015);
  EXPECT_EQ(seconds_of("1970-01-01T00:00:01.25"), 1.25);
  EXPECT_EQ(seconds_of("1970-01-01T00:00:01,5Z"), 1.5);
  EXPECT_EQ(seconds_of("1970-01-01T01:30:00+01:30"), 0);
  EXPECT_EQ(seconds_of("1970-01-01T01:30:00-0130"), 10800);
  EXPECT_EQ(seconds_of("1970-01-01T01:30+01"), 1800);
}

TEST(TimeTextTest, RefusesWhatIsNoTime) {
  for (const char* text : {"",
                           "inf",
                           "nan",
                           "2023-02-29",
                           "2024-13-01",
                           "2024-1-1",
                           "24-01-01",
                           "2024-01-01T",
                           "2024-01-01T25:00",
                           "2024-01-01T12",
                           "2024-01-01T12:60",
                           "2024-01-01T12:00:61",
                           "2024-01-01T12:00:00.",
                           "2024-01-01x",
                           "2024-01-01T12:00+",
                           "2024-01-01T12:00+24:00",
                           "2024-01-01T12:00Z ",
                           "01.02.2024",
                           "2024/01/02",
                           "yesterday"}) {
    EXPECT_FALSE(parse_time(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace trainer::data
