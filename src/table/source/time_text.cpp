// SPDX-License-Identifier: Apache-2.0
#include "table/source/time_text.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>

#include "trainer/base/text/parse.h"
#include "trainer/table/source/csv_format.h"

namespace trainer::data {
namespace {

/// Takes parts of a text from its beginning; once one is not there, nothing is.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool at_end() const { return text_.empty(); }
  bool failed() const { return failed_; }

  /// At least and at most so many digits.
  int digits(std::size_t least, std::size_t most) {
    int value = 0;
    for (std::size_t i = 0; i < most; ++i) {
      const bool is_there = !text_.empty() && is_digit(text_.front());
      if (!is_there && i < least) failed_ = true;
      if (!is_there || failed_) return value;
      value = 10 * value + (text_.front() - '0');
      text_.remove_prefix(1);
    }
    return value;
  }

  /// Exactly so many digits.
  int digits(std::size_t count) { return digits(count, count); }

  /// The one that is next of `characters`, or '\0'.
  char take_one(std::string_view characters) {
    if (text_.empty() || characters.find(text_.front()) == std::string_view::npos) return '\0';
    const char found = text_.front();
    text_.remove_prefix(1);
    return found;
  }

  /// Whether the rest begins with that word in any capitals, which is passed then.
  bool take_word(std::string_view word) {
    if (lower_case(text_.substr(0, word.size())) != word) return false;
    text_.remove_prefix(word.size());
    return true;
  }

  void skip_blanks() {
    while (take_one(" ") != '\0') {
    }
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

/// What was written before the time of day.
struct Day {
  int year = 0;
  int month = 0;
  int day = 0;
  char mark = '\0';
};

// Hours of a clock of twelve.
int hour_of(int hour, Scanner& scanner) {
  constexpr int kNoon = 12;
  scanner.skip_blanks();
  const bool is_am = scanner.take_word("am");
  const bool is_pm = !is_am && scanner.take_word("pm");
  if (!is_am && !is_pm) return hour;
  if (hour < 1 || hour > kNoon) return -1;
  return hour % kNoon + (is_pm ? kNoon : 0);
}

// Seconds since the beginning of the day.
double time_of_day(Scanner& scanner) {
  int hour = scanner.digits(1, 2);
  scanner.expect(':');
  const int minute = scanner.digits(2);
  double second = 0;
  if (scanner.take_one(":") != '\0') {
    second = scanner.digits(2);
    if (scanner.take_one(".,") != '\0') second += scanner.fraction();
  }
  if (!scanner.at_end()) hour = hour_of(hour, scanner);
  constexpr double kLeapSecond = 61;
  if (hour < 0 || hour > 23 || minute > 59 || second >= kLeapSecond) return std::nan("");
  return 3600.0 * hour + 60.0 * minute + second;
}

// Seconds that the clock is ahead of UTC.
double offset(Scanner& scanner) {
  scanner.skip_blanks();
  if (scanner.take_word("utc") || scanner.take_word("gmt")) return 0;
  const char sign = scanner.take_one("Z+-");
  if (sign == '\0' || sign == 'Z') return 0;
  const int hours = scanner.digits(2);
  const bool has_colon = scanner.take_one(":") != '\0';
  const int minutes = has_colon || !scanner.at_end() ? scanner.digits(2) : 0;
  if (hours > 23 || minutes > 59) return std::nan("");
  return (sign == '-' ? -60.0 : 60.0) * (60 * hours + minutes);
}

bool begins_with_year(std::string_view text) {
  constexpr std::size_t kYearDigits = 4;
  return text.substr(0, kYearDigits).find_first_not_of("0123456789") == std::string_view::npos;
}

Day read_day(Scanner& scanner, config::DateOrder order) {
  constexpr std::string_view kMarks = "-/.";
  Day day;
  const bool is_year_first = order == config::DateOrder::kYearFirst;
  const int first = is_year_first ? scanner.digits(4) : scanner.digits(1, 2);
  day.mark = scanner.take_one(kMarks);
  const int second = scanner.digits(1, 2);
  scanner.expect(day.mark);
  const int third = is_year_first ? scanner.digits(1, 2) : scanner.digits(4);
  day.year = is_year_first ? first : third;
  day.month = order == config::DateOrder::kMonthFirst ? first : second;
  day.day = is_year_first ? third : order == config::DateOrder::kMonthFirst ? second : first;
  return day;
}

/// Seconds since 1970; `text` is trimmed.
std::optional<double> parse_date(std::string_view text, config::DateOrder order) {
  Scanner scanner(text);
  const Day day = read_day(scanner, order);
  double seconds = 0;
  if (!scanner.at_end()) {
    if (scanner.take_one("T ") == '\0') return std::nullopt;
    seconds = time_of_day(scanner);
    seconds -= offset(scanner);
  }
  const std::chrono::year_month_day date(std::chrono::year(day.year),
                                         std::chrono::month(static_cast<unsigned>(day.month)),
                                         std::chrono::day(static_cast<unsigned>(day.day)));
  if (scanner.failed() || !scanner.at_end() || !date.ok() || std::isnan(seconds)) {
    return std::nullopt;
  }
  constexpr double kSecondsOfDay = 86400;
  const auto days = std::chrono::sys_days{date}.time_since_epoch().count();
  return kSecondsOfDay * static_cast<double>(days) + seconds;
}

}  // namespace

std::optional<Time> parse_time(std::string_view text, config::DateOrder order) {
  text = trimmed(text);
  if (const std::optional<double> number = parse_double(text)) {
    if (!std::isfinite(*number)) return std::nullopt;
    return Time{TimeKind::kNumber, *number};
  }
  if (begins_with_year(text)) order = config::DateOrder::kYearFirst;
  const std::optional<double> seconds = parse_date(text, order);
  if (!seconds) return std::nullopt;
  return Time{TimeKind::kDate, *seconds};
}

std::optional<double> DateOrders::add(std::string_view text) {
  text = trimmed(text);
  if (begins_with_year(text)) {
    const std::optional<double> seconds = parse_date(text, config::DateOrder::kYearFirst);
    num_year_first_ += seconds ? 1 : 0;
    return seconds;
  }
  const std::optional<double> by_day = parse_date(text, config::DateOrder::kDayFirst);
  const std::optional<double> by_month = parse_date(text, config::DateOrder::kMonthFirst);
  if (!by_day && !by_month) return std::nullopt;
  num_day_first_ += by_day ? 1 : 0;
  num_month_first_ += by_month ? 1 : 0;
  are_dotted_ = are_dotted_ && text.find_first_of("-/") > text.find('.');
  if (example_.empty()) example_ = text;
  return by_day ? by_day : by_month;
}

int64_t DateOrders::num_dates() const {
  return num_year_first_ + std::max(num_day_first_, num_month_first_);
}

// With points, nobody writes the month first.
std::optional<config::DateOrder> DateOrders::order() const {
  if (num_day_first_ + num_month_first_ == 0) return config::DateOrder::kYearFirst;
  if (num_day_first_ != num_month_first_) {
    return num_day_first_ > num_month_first_ ? config::DateOrder::kDayFirst
                                             : config::DateOrder::kMonthFirst;
  }
  if (are_dotted_) return config::DateOrder::kDayFirst;
  return std::nullopt;
}

std::string date_text(double seconds) {
  constexpr double kSecondsOfDay = 86400;
  const double days = std::floor(seconds / kSecondsOfDay);
  const std::chrono::year_month_day date{
      std::chrono::sys_days{std::chrono::days(static_cast<int>(days))}};
  std::string text =
      fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                  static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  const auto rest = static_cast<int>(seconds - days * kSecondsOfDay);
  if (rest > 0) text += fmt::format(" {:02}:{:02}:{:02}", rest / 3600, rest / 60 % 60, rest % 60);
  return text;
}

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
