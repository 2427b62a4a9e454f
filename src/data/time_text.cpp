// SPDX-License-Identifier: Apache-2.0
#include "data/time_text.h"

#include <chrono>
#include <cmath>
#include <cstddef>

#include "trainer/core/parse.h"

namespace trainer::data {
namespace {

/// Takes parts of a text from its beginning; once one is not there, nothing is.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool at_end() const { return text_.empty(); }
  bool failed() const { return failed_; }

  /// Exactly so many digits.
  int digits(std::size_t count) {
    int value = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (text_.empty() || !is_digit(text_.front())) failed_ = true;
      if (failed_) return 0;
      value = 10 * value + (text_.front() - '0');
      text_.remove_prefix(1);
    }
    return value;
  }

  /// The one that is next of `characters`, or '\0'.
  char take_one(std::string_view characters) {
    if (text_.empty() || characters.find(text_.front()) == std::string_view::npos) return '\0';
    const char found = text_.front();
    text_.remove_prefix(1);
    return found;
  }

  void expect(char c) {
    if (take_one({&c, 1}) == '\0') failed_ = true;
  }

  /// Digits behind a decimal point, at least one.
  double fraction() {
    double value = digits(1);
    double digit = 0.1;
    value *= digit;
    while (!failed_ && !text_.empty() && is_digit(text_.front())) {
      digit /= 10;
      value += digit * digits(1);
    }
    return value;
  }

 private:
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }

  std::string_view text_;
  bool failed_ = false;
};

// Seconds since the beginning of the day.
double time_of_day(Scanner& scanner) {
  const int hour = scanner.digits(2);
  scanner.expect(':');
  const int minute = scanner.digits(2);
  double second = 0;
  if (scanner.take_one(":") != '\0') {
    second = scanner.digits(2);
    if (scanner.take_one(".,") != '\0') second += scanner.fraction();
  }
  constexpr double kLeapSecond = 61;
  if (hour > 23 || minute > 59 || second >= kLeapSecond) return std::nan("");
  return 3600.0 * hour + 60.0 * minute + second;
}

// Seconds that the clock is ahead of UTC.
double offset(Scanner& scanner) {
  const char sign = scanner.take_one("Z+-");
  if (sign == '\0' || sign == 'Z') return 0;
  const int hours = scanner.digits(2);
  const bool has_colon = scanner.take_one(":") != '\0';
  const int minutes = has_colon || !scanner.at_end() ? scanner.digits(2) : 0;
  if (hours > 23 || minutes > 59) return std::nan("");
  return (sign == '-' ? -60.0 : 60.0) * (60 * hours + minutes);
}

}  // namespace

std::optional<Time> parse_time(std::string_view text) {
  if (const std::optional<double> number = parse_double(text)) {
    if (!std::isfinite(*number)) return std::nullopt;
    return Time{TimeKind::kNumber, *number};
  }
  Scanner scanner(text);
  const std::chrono::year year(scanner.digits(4));
  scanner.expect('-');
  const std::chrono::month month(static_cast<unsigned>(scanner.digits(2)));
  scanner.expect('-');
  const std::chrono::day day(static_cast<unsigned>(scanner.digits(2)));
  double seconds = 0;
  if (!scanner.at_end()) {
    if (scanner.take_one("T ") == '\0') return std::nullopt;
    seconds = time_of_day(scanner);
    seconds -= offset(scanner);
  }
  const std::chrono::year_month_day date(year, month, day);
  if (scanner.failed() || !scanner.at_end() || !date.ok() || std::isnan(seconds)) {
    return std::nullopt;
  }
  constexpr double kSecondsOfDay = 86400;
  const auto days = std::chrono::sys_days{date}.time_since_epoch().count();
  return Time{TimeKind::kDate, kSecondsOfDay * static_cast<double>(days) + seconds};
}

}  // namespace trainer::data
