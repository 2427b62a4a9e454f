// SPDX-License-Identifier: Apache-2.0
#include "table/source/cell_problems.h"

#include <cmath>

#include <fmt/format.h>

#include "trainer/base/text/format.h"
#include "trainer/base/text/parse.h"

#include "table/source/number_text.h"

namespace trainer::data {
namespace {

std::string fix_of_missing(const HeaderColumn& column) {
  return column.is_trained ? "fill it in: the model has no fill value for this column"
                           : "fill it in, choose a data.fill, or drop the column with data.ignore";
}

// How to read it as it is.
std::string thousands_option(std::string_view field, const CsvFormat& format) {
  const char thousands = format.decimal == '.' ? ',' : '.';
  const std::optional<std::string> plain = plain_number(trimmed(field), format.decimal, thousands);
  if (!plain || !parse_double(*plain)) return "";
  return fmt::format(", or set data.thousands: \"{}\"", thousands);
}

std::string fix_of_text(const HeaderColumn& column, std::string_view field, const CsvFormat& format,
                        const TableHeader& header) {
  if (const std::string number = rewritten_number(field, format); !number.empty()) {
    const std::string thousands = column.is_trained ? "" : thousands_option(field, format);
    if (format.decimal == ',') {
      return "write it with a decimal comma and without thousands separators: " + number +
             thousands;
    }
    const bool may_be_decimal = format.delimiter != ',' && number.find('.') != std::string::npos;
    return "write it without a comma: " + number +
           (may_be_decimal ? ", or " + header.decimal_option : "") + thousands;
  }
  const std::optional<NumberWithUnit> parts = split_unit(field);
  if (parts && column.unit.empty() && number_in(parts->number, format)) {
    return fmt::format("write it without the unit: {}, or write all cells of the column with it",
                       parts->number);
  }
  if (column.is_trained) return "correct it: the column was numeric in the training data";
  return column.is_declared ? "correct it, add it to data.missing or list the column in "
                              "data.categorical"
                            : "correct it, add it to data.missing, or list the column in "
                              "data.categorical or data.ignore";
}

}  // namespace

std::string missing_as_found(std::string_view field) {
  return field.empty() ? "an empty field" : fmt::format("{}, a missing value", in_quotes(field));
}

std::string number_problem(std::string_view field, std::optional<double> value,
                           const HeaderColumn& column, const CsvFormat& format,
                           const TableHeader& header) {
  if (is_missing(field, format)) {
    return fmt::format("expected a number, got {}; {}", missing_as_found(field),
                       fix_of_missing(column));
  }
  if (!value) {
    std::string expected = "a number";
    if (!column.unit.empty()) {
      expected += " such as " + column.unit;
      expected.replace(expected.find('#'), 1, "12");
    }
    return fmt::format("expected {}, got {}; {}", expected, in_quotes(field),
                       fix_of_text(column, field, format, header));
  }
  const std::string_view limit = std::isfinite(*value) ? " of at most 3.4e+38" : "";
  return fmt::format("expected a finite number{}, got {}", limit, in_quotes(field));
}

}  // namespace trainer::data
