// SPDX-License-Identifier: Apache-2.0
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/core/text.h"

#include "data/csv_header.h"

namespace trainer::data {
namespace {

constexpr int64_t kSampleRows = 256;  // and more, until each column had a value

struct Count {
  int64_t numbers = 0;
  int64_t texts = 0;
};

bool is_number(std::string_view field, char decimal) {
  return number_in(field, decimal).has_value() || !rewritten_number(field, decimal).empty();
}

/// Counts the cells of one row; false when it has another number of cells than the header.
bool count_row(CsvCursor& cursor, const CsvHeader& header, std::vector<float>& numbers,
               std::vector<Count>& counts) {
  for (size_t column = 0; column < counts.size();) {
    if (!cursor.in_row()) return false;
    const size_t plain =
        cursor.next_plain_numbers(std::span(numbers).first(header.numbers_from[column]));
    for (size_t i = 0; i < plain; ++i) ++counts[column + i].numbers;
    column += plain;
    if (plain > 0) continue;
    const std::string_view field = cursor.next_field();
    if (!is_missing(field, cursor.format())) {
      const bool number = is_number(field, cursor.format().decimal);
      ++(number ? counts[column].numbers : counts[column].texts);
    }
    ++column;
  }
  return !cursor.in_row();
}

void decide(CsvColumn& column, const Count& count) {
  if (count.numbers + count.texts == 0) {
    column.role = Role::kSkipped;
    column.kind = ColumnKind::kLeftOut;
    column.reason = "every cell is missing";
  } else if (count.texts > count.numbers) {
    column.role = Role::kText;
    column.kind = ColumnKind::kCategorical;
  }
}

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

void survey_columns(CsvCursor& cursor, CsvHeader& header) {
  std::vector<Count> counts(header.columns.size());
  std::vector<float> numbers(header.num_features);
  const auto is_open = [&](size_t column) {
    const Count& count = counts[column];
    return !header.columns[column].is_declared && count.numbers + count.texts == 0;
  };
  size_t first_open = 0;
  for (int64_t row = 0;; ++row) {
    while (first_open < counts.size() && !is_open(first_open)) ++first_open;
    if (row >= kSampleRows && first_open == counts.size()) break;
    // The reader has the words for a row that is too short or too long.
    if (!cursor.begin_row() || !count_row(cursor, header, numbers, counts)) break;
  }
  for (size_t column = 0; column < counts.size(); ++column) {
    if (!header.columns[column].is_declared) decide(header.columns[column], counts[column]);
  }
  count_features(header);
}

std::string rewritten_number(std::string_view field, char decimal) {
  const std::string swapped = with_marks_swapped(field);
  if (decimal == ',') return with_marks_swapped(without_commas(swapped));
  const std::string plain = without_commas(field);
  const bool has_both = field.find('.') < field.find(',') && field.find(',') != field.npos;
  return plain.empty() && has_both ? without_commas(swapped) : plain;
}

}  // namespace trainer::data
