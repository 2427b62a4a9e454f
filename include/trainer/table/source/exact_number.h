// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trainer::data {

/// A decimal number with all of its digits, however it is written: 0.digits * 10^exponent.
struct ExactNumber {
  bool is_negative = false;
  std::string digits;    // without zeros at either end; empty: 0
  int64_t exponent = 0;  // 0 of 0; the largest of infinity and what is like it

  bool operator==(const ExactNumber&) const = default;
  /// By value.
  std::strong_ordering operator<=>(const ExactNumber& other) const;
};

/// The whole of `text` as a number, of what parse_double() takes for one, or nothing.
std::optional<ExactNumber> exact_number(std::string_view text);

/// What tells whether two texts are one value. All spellings of a decimal number have one key,
/// exactly: 7 for 7, 7.0, +7 and 7e0, and no two numbers have the same. Zeros in front make a code:
/// 07 is another value than 7. Of any other text it is the text itself.
std::string value_key(std::string_view text);

/// The same of a number without zeros in front, nothing of any other text.
std::optional<std::string> number_key(std::string_view text);

}  // namespace trainer::data
