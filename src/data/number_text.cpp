// SPDX-License-Identifier: Apache-2.0
#include "data/number_text.h"

#include <cstddef>

#include "trainer/core/parse.h"

namespace trainer::data {
namespace {

// With a decimal point.
std::string without_commas(std::string_view field) {
  const size_t first = field.find(',');
  if (first == std::string_view::npos || first == 0 || field.back() == ',') return "";
  std::string plain;
  bool in_threes = true;
  size_t num_commas = 0;
  size_t num_digits = 0;  // since the last comma
  const std::string_view whole = field.substr(0, field.find('.'));
  for (const char c : whole) {
    if (c == ',') {
      in_threes = in_threes && (num_commas == 0 ? num_digits <= 3 : num_digits == 3);
      num_digits = 0;
      ++num_commas;
    } else {
      plain += c;
      if (c >= '0' && c <= '9') ++num_digits;
    }
  }
  if (num_commas > 0 && in_threes && num_digits == 3) {
    plain += field.substr(whole.size());
  } else if (num_commas == 1 && whole.size() == field.size()) {
    plain = field;
    plain[first] = '.';
  } else {
    return "";
  }
  return parse_double(plain) ? plain : "";
}

std::string with_marks_swapped(std::string_view field) {
  std::string swapped(field);
  for (char& c : swapped) {
    if (c == ',' || c == '.') c = c == ',' ? '.' : ',';
  }
  return swapped;
}

}  // namespace

std::string rewritten_number(std::string_view field, char decimal) {
  const std::string swapped = with_marks_swapped(field);
  if (decimal == ',') return with_marks_swapped(without_commas(swapped));
  const std::string plain = without_commas(field);
  const bool has_both =
      field.find('.') < field.find(',') && field.find(',') != std::string_view::npos;
  return plain.empty() && has_both ? without_commas(swapped) : plain;
}

}  // namespace trainer::data
