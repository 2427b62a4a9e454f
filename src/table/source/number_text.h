// SPDX-License-Identifier: Apache-2.0
#pragma once

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

}  // namespace trainer::data
