// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "trainer/config/types.h"

namespace trainer::data {

enum class TimeKind { kNumber, kDate };

struct Time {
  TimeKind kind = TimeKind::kNumber;
  double value = 0;  // the number, or seconds since the beginning of 1970 in UTC
};

/// A finite number or a date: the year in four digits first (2026-03-01, 2026/3/1), or if `order`
/// says so, day or month first (01.03.2026, 3/1/2026), with the same mark -, / or . twice. A time
/// of day may follow a T or a blank (12:30, with seconds and fractions of them, with AM or PM), and
/// an offset (Z, UTC, +01:00, +0100, +01); without one it counts as UTC. Nothing for another text
/// and for a day that does not exist. Blanks around it do not count.
std::optional<Time> parse_time(std::string_view text,
                               config::DateOrder order = config::DateOrder::kYearFirst);

/// What the dates of a column say about the order of day and month.
class DateOrders {
 public:
  /// Counts a text; nothing if it is no date in any order, else its time in one that it fits.
  std::optional<double> add(std::string_view text);

  /// How many dates have the order that most of them have.
  int64_t num_dates() const;
  /// That order; nothing if as many dates have the other one, and no convention decides.
  std::optional<config::DateOrder> order() const;
  /// Whether there are dates, and no order is known of them.
  bool is_open() const { return num_dates() > 0 && !order(); }
  /// The first date that does not begin with the year.
  const std::string& example() const { return example_; }

 private:
  int64_t num_year_first_ = 0;
  int64_t num_day_first_ = 0;
  int64_t num_month_first_ = 0;
  bool are_dotted_ = true;  // those that do not begin with the year
  std::string example_;
};

/// "2026-03-01", or "2026-03-01 12:30:00" if it is not midnight.
std::string date_text(double seconds);

/// A part of a time, which is given in seconds since the beginning of 1970 in UTC: the year, the
/// month 1 to 12, the day of the week 1 (Monday) to 7, the hour 0 to 23, or the seconds themselves.
double part_of(double seconds, config::DatePart part);

/// What a part of the column `name` is called as a column: "name.year".
std::string part_name(const std::string& name, config::DatePart part);

}  // namespace trainer::data
