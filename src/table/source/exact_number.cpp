// SPDX-License-Identifier: Apache-2.0
#include "trainer/table/source/exact_number.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "trainer/base/text/parse.h"

namespace trainer::data {
namespace {

// Of most texts: that they are no numbers is seen in their first byte.
bool may_be_number(std::string_view text) {
  constexpr std::string_view kFirst = "0123456789+-.iI";
  return !text.empty() && kFirst.find(text.front()) != std::string_view::npos;
}

std::string_view without_sign(std::string_view text) {
  return text.substr(text.starts_with('-') || text.starts_with('+') ? 1 : 0);
}

constexpr int64_t kInfinite = std::numeric_limits<int64_t>::max();

// What no table has is infinite.
int64_t exponent_in(std::string_view text) {
  constexpr int64_t kLargest = 1'000'000'000'000;
  const int64_t exponent = parse_int(text).value_or(kInfinite);
  return exponent >= -kLargest && exponent <= kLargest ? exponent : kInfinite;
}

size_t num_leading_zeros(std::string_view digits) {
  size_t count = 0;
  while (count + 1 < digits.size() && digits[count] == '0' && digits[count + 1] >= '0' &&
         digits[count + 1] <= '9') {
    ++count;
  }
  return count;
}

// Itself a spelling of the number with as many zeros, so that no other text has it.
std::optional<std::string> key_of(std::string_view text, size_t num_zeros) {
  const std::optional<ExactNumber> number = exact_number(text);
  if (!number || number->exponent == kInfinite) return std::nullopt;
  const std::string zeros(num_zeros, '0');
  if (number->digits.empty()) return zeros + "0";
  const auto num_digits = static_cast<int64_t>(number->digits.size());
  return fmt::format("{}{}{}e{}", number->is_negative ? "-" : "", zeros, number->digits,
                     number->exponent - num_digits);
}

}  // namespace

std::strong_ordering ExactNumber::operator<=>(const ExactNumber& other) const {
  const auto sign = [](const ExactNumber& number) {
    return number.digits.empty() ? 0 : number.is_negative ? -1 : 1;
  };
  if (sign(*this) != sign(other)) return sign(*this) <=> sign(other);
  const ExactNumber& low = is_negative ? other : *this;
  const ExactNumber& high = is_negative ? *this : other;
  if (low.exponent != high.exponent) return low.exponent <=> high.exponent;
  return low.digits.compare(high.digits) <=> 0;
}

std::optional<ExactNumber> exact_number(std::string_view text) {
  if (!may_be_number(text) || !parse_double(text)) return std::nullopt;
  ExactNumber number{.is_negative = text.starts_with('-'), .digits = {}};
  text = without_sign(text);
  if (text.front() == 'i' || text.front() == 'I') {
    number.digits = "1";
    number.exponent = kInfinite;
    return number;
  }
  const size_t mantissa_size = std::min(text.find_first_of("eE"), text.size());
  const std::string_view mantissa = text.substr(0, mantissa_size);
  const size_t point = std::min(mantissa.find('.'), mantissa.size());
  number.digits = mantissa;
  if (point < mantissa.size()) number.digits.erase(point, 1);
  const size_t first = std::min(number.digits.find_first_not_of('0'), number.digits.size());
  number.digits.erase(0, first);
  number.digits.erase(number.digits.find_last_not_of('0') + 1);
  if (number.digits.empty()) return ExactNumber{};
  const int64_t power =
      mantissa_size == text.size() ? 0 : exponent_in(text.substr(mantissa_size + 1));
  number.exponent = power == kInfinite
                        ? power
                        : power + static_cast<int64_t>(point) - static_cast<int64_t>(first);
  return number;
}

std::string value_key(std::string_view text) {
  return key_of(text, num_leading_zeros(without_sign(text))).value_or(std::string(text));
}

std::optional<std::string> number_key(std::string_view text) { return key_of(text, 0); }

}  // namespace trainer::data
