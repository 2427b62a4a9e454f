// SPDX-License-Identifier: Apache-2.0
#include "table/source/date_parts.h"

#include <chrono>
#include <cmath>

namespace trainer::data {

double part_of(double seconds, config::DatePart part) {
  constexpr double kSecondsPerHour = 3600;
  constexpr double kSecondsPerDay = 24 * kSecondsPerHour;
  if (part == config::DatePart::kSeconds) return seconds;
  const double day = std::floor(seconds / kSecondsPerDay);
  if (part == config::DatePart::kHour) {
    return std::floor((seconds - day * kSecondsPerDay) / kSecondsPerHour);
  }
  const std::chrono::sys_days date{std::chrono::days(static_cast<int>(day))};
  if (part == config::DatePart::kDayOfWeek) return std::chrono::weekday(date).iso_encoding();
  const std::chrono::year_month_day calendar(date);
  return part == config::DatePart::kYear
             ? static_cast<int>(calendar.year())
             : static_cast<double>(static_cast<unsigned>(calendar.month()));
}

std::string part_name(const std::string& name, config::DatePart part) {
  return name + "." + config::to_text(part);
}

}  // namespace trainer::data
