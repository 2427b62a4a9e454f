// SPDX-License-Identifier: Apache-2.0
#include "table/source/number_text.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "trainer/base/text/parse.h"

namespace trainer::data {
namespace {

struct WithoutCommas {
  std::string text;
  size_t num_commas = 0;
  bool has_groups = false;  // each comma stands before three digits
};

WithoutCommas remove_commas(std::string_view whole) {
  WithoutCommas removed;
  bool in_threes = true;
  size_t num_digits = 0;  // since the last comma
  for (const char c : whole) {
    if (c == ',') {
      in_threes = in_threes && (removed.num_commas == 0 ? num_digits <= 3 : num_digits == 3);
      num_digits = 0;
      ++removed.num_commas;
    } else {
      removed.text += c;
      const bool is_digit = c >= '0' && c <= '9';
      num_digits += is_digit ? 1 : 0;
      in_threes = in_threes && (is_digit || removed.text.size() == 1);  // 3,5e38 has no groups
    }
  }
  removed.has_groups = removed.num_commas > 0 && in_threes && num_digits == 3;
  return removed;
}

// The number with a decimal point, whose commas stand between thousands or are the decimal mark;
// empty if it is none.
std::string without_commas(std::string_view field) {
  const size_t first = field.find(',');
  if (first == std::string_view::npos || first == 0 || field.back() == ',') return "";
  const std::string_view whole = field.substr(0, field.find('.'));
  auto [plain, num_commas, has_groups] = remove_commas(whole);
  if (has_groups) {
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

// Where a mark between thousands ends that begins at `at`, or `at` where there is none. A blank may
// be one that breaks no line, a narrow one too.
size_t after_mark(std::string_view text, size_t at, char mark) {
  if (at < text.size() && text[at] == mark) return at + 1;
  if (mark != ' ') return at;
  for (const std::string_view blank : {"\u00A0", "\u202F"}) {
    if (text.substr(at).starts_with(blank)) return at + blank.size();
  }
  return at;
}

size_t after_digits(std::string_view text, size_t at) {
  return std::min(text.find_first_not_of("0123456789", at), text.size());
}

// Appends the whole part of a number and returns where it ends; nothing if its groups are none.
std::optional<size_t> take_groups(std::string_view field, size_t begin, char mark,
                                  std::string& plain) {
  constexpr size_t kGroup = 3;
  size_t at = after_digits(field, begin);
  plain += field.substr(begin, at - begin);
  if (mark == '\0' || at == begin) return at;
  for (bool is_first = true;; is_first = false) {
    const size_t next = after_mark(field, at, mark);
    if (next == at) return at;
    const size_t end = after_digits(field, next);
    const bool begins_well = at - begin <= kGroup && field[begin] != '0';
    if (end - next != kGroup || (is_first && !begins_well)) return std::nullopt;
    plain += field.substr(next, kGroup);
    at = end;
  }
}

}  // namespace

std::optional<std::string> plain_number(std::string_view field, char decimal, char thousands) {
  const size_t begin = field.find_first_not_of("+-") == 1 ? 1 : 0;
  std::string plain(field.substr(0, begin));
  const std::optional<size_t> end = take_groups(field, begin, thousands, plain);
  if (!end) return std::nullopt;
  std::string rest(field.substr(*end));
  if (decimal != '.') {
    if (rest.find('.') != std::string::npos) return std::nullopt;
    if (const size_t mark = rest.find(decimal); mark != std::string::npos) rest[mark] = '.';
  }
  return plain + rest;
}

std::string rewritten_number(std::string_view field, const CsvFormat& format) {
  field = trimmed(field);
  const std::string swapped = with_marks_swapped(field);
  if (format.decimal == ',') return with_marks_swapped(without_commas(swapped));
  const std::string plain = without_commas(field);
  const bool has_both =
      field.find('.') < field.find(',') && field.find(',') != std::string_view::npos;
  return plain.empty() && has_both ? without_commas(swapped) : plain;
}

std::optional<NumberWithUnit> split_unit(std::string_view field) {
  static constexpr std::array<std::string_view, 15> kCurrencies = {
      "$", "€", "£", "¥", "₹", "₽", "₩", "₺", "EUR", "USD", "GBP", "CHF", "JPY", "Fr.", "kr"};
  field = trimmed(field);
  if (field.empty()) return std::nullopt;
  const std::string sign(field.starts_with('-') || field.starts_with('+') ? 1 : 0, field.front());
  const std::string_view unsigned_field = field.substr(sign.size());
  if (field.ends_with('%')) {
    return NumberWithUnit{"#%", std::string(trimmed(field.substr(0, field.size() - 1)))};
  }
  for (const std::string_view currency : kCurrencies) {
    const std::string name(currency);
    if (unsigned_field.starts_with(currency)) {
      return NumberWithUnit{name + "#",
                            sign + std::string(trimmed(unsigned_field.substr(currency.size())))};
    }
    if (field.ends_with(currency)) {
      const size_t size = field.size() - currency.size();
      return NumberWithUnit{"#" + name, std::string(trimmed(field.substr(0, size)))};
    }
  }
  return std::nullopt;
}

std::optional<double> number_in(std::string_view field, const CsvFormat& format,
                                std::string_view unit) {
  if (unit.empty()) return number_in(field, format);
  const std::optional<NumberWithUnit> parts = split_unit(field);
  if (!parts || parts->unit != unit) return std::nullopt;
  return number_in(parts->number, format);
}

}  // namespace trainer::data
