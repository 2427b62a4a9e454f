// SPDX-License-Identifier: Apache-2.0
#include "table/source/time_text.h"

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
                           "2024-01-01T13:00 PM",
                           "2024-01/02",
                           "20240102 12:00",
                           "1/2/24",
                           "01.02.2024",
                           "yesterday"}) {
    EXPECT_FALSE(parse_time(text).has_value()) << text;
  }
}

TEST(TimeTextTest, TheYearMayStandFirstWithAnyMark) {
  EXPECT_EQ(seconds_of("2021/05/03 18:33:25"), seconds_of("2021-05-03T18:33:25"));
  EXPECT_EQ(seconds_of("2021.5.3"), seconds_of("2021-05-03"));
  EXPECT_EQ(seconds_of(" 2026-03-01 00:30:00 UTC "), seconds_of("2026-03-01T00:30"));
  EXPECT_EQ(seconds_of("2026-03-01 00:30:00 +0100"), seconds_of("2026-02-28T23:30"));
}

TEST(TimeTextTest, DayOrMonthStandFirstIfTheOrderSaysSo) {
  using config::DateOrder;
  const auto at = [](std::string_view text, DateOrder order) {
    return parse_time(text, order).value_or(Time{.value = -1}).value;
  };
  const double may = seconds_of("2021-05-03");
  EXPECT_EQ(at("03.05.2021", DateOrder::kDayFirst), may);
  EXPECT_EQ(at("3/5/2021", DateOrder::kDayFirst), may);
  EXPECT_EQ(at("05-03-2021", DateOrder::kMonthFirst), may);
  EXPECT_EQ(at("2021-05-03", DateOrder::kMonthFirst), may);
  EXPECT_EQ(at("5/3/2021 6:33:25 PM", DateOrder::kMonthFirst), seconds_of("2021-05-03T18:33:25"));
  EXPECT_EQ(at("5/3/2021 12:05 am", DateOrder::kMonthFirst), seconds_of("2021-05-03T00:05"));
  EXPECT_EQ(at("13/05/2021", DateOrder::kMonthFirst), -1);
  EXPECT_EQ(at("05/13/2021", DateOrder::kDayFirst), -1);
}

std::optional<config::DateOrder> order_of(std::initializer_list<const char*> texts) {
  DateOrders orders;
  for (const char* text : texts) orders.add(text);
  return orders.order();
}

TEST(DateOrdersTest, TheDatesOfAColumnDecideWhatStandsFirst) {
  using config::DateOrder;
  EXPECT_EQ(order_of({"2021-05-03", "2021/05/30"}), DateOrder::kYearFirst);
  EXPECT_EQ(order_of({"04/07/2023", "13/07/2023"}), DateOrder::kDayFirst);
  EXPECT_EQ(order_of({"04/07/2023", "07/13/2023"}), DateOrder::kMonthFirst);
  EXPECT_EQ(order_of({"04.07.2023"}), DateOrder::kDayFirst);  // nobody writes the month first
  EXPECT_EQ(order_of({"04/07/2023", "2021-05-03"}), std::nullopt);
  EXPECT_EQ(order_of({"13/07/2023", "07/13/2023"}), std::nullopt);
}

TEST(DateOrdersTest, DatesAreThoseOfTheOrderThatMostHave) {
  DateOrders orders;
  for (const char* text : {"13/07/2023", "04/07/2023", "07/13/2023", "soon"}) orders.add(text);
  EXPECT_EQ(orders.num_dates(), 2);
  EXPECT_EQ(orders.add("soon"), std::nullopt);
}

TEST(TimeTextTest, SecondsAreWrittenAsADate) {
  EXPECT_EQ(date_text(0), "1970-01-01");
  EXPECT_EQ(date_text(-1), "1969-12-31 23:59:59");
  EXPECT_EQ(date_text(253370764800), "9999-01-01");
}

}  // namespace
}  // namespace trainer::data
