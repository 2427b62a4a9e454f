// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace trainer::data {

/// Walks once over the text of a CSV file, field by field, without a copy of what it passes.
///
///   while (cursor.begin_row()) {
///     while (cursor.in_row()) use(cursor.next_field());
///   }
class CsvCursor {
 public:
  /// `text` must outlive the cursor, hold no NUL byte and stand before one, as that of a
  /// std::string does: the NUL is the end of the text, so that no step has to compare positions.
  CsvCursor(std::string file, const std::string& text, char delimiter);

  /// Goes to the next line that is not blank; false at the end of the text.
  bool begin_row();
  /// Whether the row has another field.
  bool in_row() const { return in_row_; }
  /// Where the row begins, counted from 1.
  int64_t row_line() const { return row_line_; }

  /// The next field without its quotes, good until the next call. Throws Error(kData) for an
  /// unclosed quote and for text after a closing quote.
  std::string_view next_field();

  /// The next field into `value` when it is a plain decimal number of at most 15 digits, as nearly
  /// all cells are; else false, and the field is still to be read.
  bool next_plain_number(float& value);

  /// The number of fields in the row, from its beginning. Ends the row.
  size_t count_fields();

 private:
  bool ends_field(char c) const { return c == delimiter_ || c == '\n' || c == '\r' || c == '\0'; }
  bool is_blank(char c) const { return (c == ' ' || c == '\t') && c != delimiter_; }
  void end_field(const char* position);
  const char* after_line_break(const char* position);
  std::string_view quoted_field(const char* position);
  void end_quoted_field(const char* position);

  std::string file_;
  char delimiter_;
  const char* position_;
  const char* row_begin_;
  int64_t line_ = 1;
  int64_t row_line_ = 1;
  int64_t field_ = 0;  // within the row, from 1
  bool in_row_ = false;
  std::string unescaped_;  // a quoted field with doubled quotes
};

inline const char* CsvCursor::after_line_break(const char* position) {
  ++line_;
  const bool two_bytes = position[0] == '\r' && position[1] == '\n';
  return position + (two_bytes ? 2 : 1);
}

inline void CsvCursor::end_field(const char* position) {
  if (*position == delimiter_) {
    position_ = position + 1;
    return;
  }
  in_row_ = false;
  position_ = *position == '\0' ? position : after_line_break(position);
}

inline bool CsvCursor::next_plain_number(float& value) {
  // Powers that a double holds exactly: one correctly rounded division then gives the same double
  // as any correct reader (Clinger, "How to read floating point numbers accurately", 1990).
  constexpr int kMaxDigits = 15;
  constexpr std::array<double, kMaxDigits + 1> kPowersOfTen = {
      1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  const auto digit = [](char c) { return static_cast<unsigned>(c) - unsigned{'0'}; };

  const char* p = position_;
  const bool negative = *p == '-';
  if (negative) ++p;
  uint64_t digits = 0;  // may wrap around; then num_digits is too large as well
  const char* begin = p;
  for (; digit(*p) < 10; ++p) digits = digits * 10 + digit(*p);
  int64_t num_digits = p - begin;
  int64_t num_decimals = 0;
  if (*p == '.') {
    begin = ++p;
    for (; digit(*p) < 10; ++p) digits = digits * 10 + digit(*p);
    num_decimals = p - begin;
    num_digits += num_decimals;
  }
  if (num_digits == 0 || num_digits > kMaxDigits || !ends_field(*p)) return false;
  const double magnitude =
      static_cast<double>(digits) / kPowersOfTen[static_cast<size_t>(num_decimals)];
  value = static_cast<float>(negative ? -magnitude : magnitude);
  ++field_;
  end_field(p);
  return true;
}

}  // namespace trainer::data
