// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "trainer/table/source/csv_format.h"

namespace trainer::data {

/// `field`, a number with that decimal mark and that mark between thousands (NUL: none), with a
/// decimal point and without the other: it stands between groups of three digits before the decimal
/// mark, or nowhere. Else nothing; what remains need not be a number.
std::optional<std::string> plain_number(std::string_view field, char decimal, char thousands);

/// How to write a number that `field` writes with another decimal mark than that of `format` or
/// with marks between thousands ("1,234", "3,14" or "1.234,5" where it is a point), or an empty
/// text.
std::string rewritten_number(std::string_view field, const CsvFormat& format);

/// A text that is a number and a unit: a percent sign behind it, or a currency before or behind it.
struct NumberWithUnit {
  std::string unit;    // see Column::unit
  std::string number;  // the rest
};

/// Nothing if there is no unit.
std::optional<NumberWithUnit> split_unit(std::string_view field);

/// The whole of `field` as a number with that unit, or where `unit` is empty, without one.
std::optional<double> number_in(std::string_view field, const CsvFormat& format,
                                std::string_view unit);

/// A decimal number as it is written: digits * 10^power. More than 19 digits have wrapped around.
struct Decimal {
  bool is_negative = false;
  uint64_t digits = 0;
  ptrdiff_t num_digits = 0;
  ptrdiff_t power = 0;
};

inline unsigned digit_of(char c) { return static_cast<unsigned>(c) - unsigned{'0'}; }

/// Appends the digits at `p` to `number` and returns where they end.
inline const char* read_digits(const char* p, uint64_t& number) {
  for (; digit_of(*p) < 10; ++p) number = number * 10 + digit_of(*p);
  return p;
}

/// The same for the first digits of a number. No branch depends on whether there are one or two:
/// whole numbers of one or two digits in no order (pixels, counts) took longest a byte, most of it
/// for branches that were guessed wrong.
inline const char* read_first_digits(const char* p, uint64_t& number) {
  const unsigned first = digit_of(*p);
  if (first >= 10) return p;
  const unsigned second = digit_of(p[1]);
  const unsigned has_second = second < 10 ? 1 : 0;
  number = first + has_second * (9 * first + second);
  return read_digits(p + 1 + has_second, number);
}

/// Reads sign, digits and the decimal mark, and returns where they end.
inline const char* read_decimal(const char* p, Decimal& decimal, char mark = '.') {
  decimal.is_negative = *p == '-';
  if (decimal.is_negative) ++p;
  const char* begin = p;
  p = read_first_digits(p, decimal.digits);
  decimal.num_digits = p - begin;
  if (*p == mark) {
    begin = ++p;
    p = read_digits(p, decimal.digits);
    decimal.power = begin - p;
    decimal.num_digits -= decimal.power;
  }
  return p;
}

/// Reads an exponent, if there is one, and returns where it ends; nullptr for a bad one.
inline const char* read_exponent(const char* p, Decimal& decimal) {
  constexpr ptrdiff_t kMaxDigits = 4;
  if (*p != 'e' && *p != 'E') return p;
  const bool is_negative = *++p == '-';
  if (is_negative || *p == '+') ++p;
  uint64_t exponent = 0;
  const char* end = read_digits(p, exponent);
  if (end == p || end - p > kMaxDigits) return nullptr;
  decimal.power +=
      is_negative ? -static_cast<ptrdiff_t>(exponent) : static_cast<ptrdiff_t>(exponent);
  return end;
}

/// Digits that a double holds, however they are.
inline constexpr ptrdiff_t kMaxExactDigits = 15;

inline bool has_exact_digits(const Decimal& decimal) {
  return decimal.num_digits >= 1 && decimal.num_digits <= kMaxExactDigits;
}

/// Whether to_double() knows the number: nearly all numbers in tables.
inline bool is_simple(const Decimal& decimal) {
  constexpr ptrdiff_t kMaxExactPower = 22;
  return has_exact_digits(decimal) && decimal.power >= -kMaxExactPower &&
         decimal.power <= kMaxExactPower;
}

/// The nearest double to a simple number: one operation on two exact doubles is correctly rounded
/// (Clinger, "How to read floating point numbers accurately", 1990).
inline double to_double(const Decimal& decimal) {
  constexpr std::array<double, 23> kPowersOfTen = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  const auto digits = static_cast<double>(static_cast<int64_t>(decimal.digits));
  const double magnitude = decimal.power <= 0
                               ? digits / kPowersOfTen[static_cast<size_t>(-decimal.power)]
                               : digits * kPowersOfTen[static_cast<size_t>(decimal.power)];
  return decimal.is_negative ? -magnitude : magnitude;
}

}  // namespace trainer::data
