// SPDX-License-Identifier: Apache-2.0
#include "table/source/column_inspector.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "trainer/base/text/parse.h"
#include "trainer/table/schema/value_index.h"

#include "table/source/number_text.h"

namespace trainer::data {
namespace {

constexpr size_t kMaxLabelBytes = 1000;

// "1.234": where the comma is the decimal mark, 1234.
bool may_be_thousands(std::string_view field) {
  constexpr size_t kThousand = 3;
  const size_t point = field.find('.');
  return point != std::string_view::npos && field.size() - point - 1 == kThousand;
}

/// Counts a text; false where it is another one than the `max_texts` that are there.
bool count_text(std::string_view field, size_t max_texts,
                std::vector<std::pair<std::string, int64_t>>& texts) {
  const auto found = std::find_if(texts.begin(), texts.end(),
                                  [&](const auto& text) { return text.first == field; });
  if (found != texts.end()) {
    ++found->second;
  } else if (texts.size() < max_texts) {
    texts.emplace_back(field, 1);
  } else {
    return false;
  }
  return true;
}

/// Counts the decimal mark of a number that is `plain` when it is written with a point.
void count_mark(std::string_view number, const std::string& plain, DecimalMarks& marks) {
  if (number.find('.') > number.find(',') && number.find('.') != std::string_view::npos) {
    ++marks.num_points;  // 1,234.5
  } else if (plain.find('.') != std::string::npos) {
    ++marks.num_commas;  // 39,1 or 1.234,5
  }
}

/// Makes the labels those of a run, where one value may be written in several ways.
void merge_spellings(ColumnFacts& facts) {
  std::vector<std::string> texts;
  texts.reserve(facts.labels.size());
  for (const auto& [text, count] : facts.labels) texts.push_back(text);
  const std::vector<std::string> values = distinct_values(texts);
  if (values.size() == texts.size()) return;
  const ValueIndex index(values);
  std::vector<std::pair<std::string, int64_t>> labels;
  labels.reserve(values.size());
  for (const std::string& value : values) labels.emplace_back(value, 0);
  for (const auto& [text, count] : facts.labels) labels[*index.find(text)].second += count;
  facts.labels = std::move(labels);
  facts.num_distinct = std::ssize(values);
  facts.has_repeats = true;
}

}  // namespace

void ColumnInspector::add(std::string_view field, int64_t line, const CsvFormat& format,
                          DecimalMarks& marks) {
  if (is_missing(field, format)) {
    ++facts_.num_missing;
    if (!field.empty()) count_text(field, kMaxMissingTexts, facts_.missing_texts);
    return;
  }
  if (facts_.num_values() == 0) facts_.first_value = field;
  const std::optional<double> number = number_in(field, format);
  if (number && std::isfinite(*number)) {
    add_number(*number);
    if (std::trunc(*number) != *number && !may_be_thousands(field)) ++marks.num_points;
  } else {
    add_text(field, line, format, marks);
  }
  count_different(field);
}

char ColumnInspector::thousands(const CsvFormat& format) const {
  for (const Grouped& grouped : grouped_) {
    const bool are_sure = grouped.num_sure > 0 || format.delimiter == grouped.mark;
    if (grouped.count > 0 && are_sure &&
        grouped.count + facts_.num_with_unit + facts_.num_numbers == facts_.num_values()) {
      return grouped.mark;
    }
  }
  return '\0';
}

ColumnFacts ColumnInspector::take() {
  if (facts_.num_numbers > 0 && !facts_.is_whole) facts_.num_distinct = 0;
  if (facts_.num_distinct > kMaxLabels || !facts_.is_whole) labels_.clear();
  facts_.labels.resize(labels_.size());
  for (const auto& [text, label] : labels_) facts_.labels[label.index] = {text, label.count};
  merge_spellings(facts_);
  facts_.is_sequential = facts_.is_sequential && facts_.is_whole && facts_.num_numbers > 0;
  facts_.num_dates = dates_.num_dates();
  facts_.has_open_dates = dates_.is_open();
  if (!has_one_unit_) facts_.num_with_unit = 0;
  facts_.odd_texts = odd_texts_.texts;
  // Beside other values a few dates are as odd as other texts.
  if (2 * facts_.num_dates <= facts_.num_values()) {
    auto& texts = facts_.odd_texts;
    texts.insert(texts.end(), odd_dates_.texts.begin(), odd_dates_.texts.end());
    if (odd_texts_.are_many || odd_dates_.are_many || std::ssize(texts) > kMaxOddTexts) {
      texts.clear();
    }
  }
  return std::move(facts_);
}

void ColumnInspector::add_number(double number) {
  const bool is_first = facts_.num_numbers == 0;
  if (is_first || number < facts_.min) {
    facts_.next_min = is_first ? number : facts_.min;
    facts_.num_min = 1;
  } else if (number == facts_.min) {
    ++facts_.num_min;
  } else if (facts_.next_min == facts_.min || number < facts_.next_min) {
    facts_.next_min = number;
  }
  facts_.is_whole = facts_.is_whole && std::trunc(number) == number;
  facts_.is_sequential = facts_.is_sequential && (is_first || number == last_ + 1);
  facts_.min = is_first ? number : std::min(facts_.min, number);
  facts_.max = is_first ? number : std::max(facts_.max, number);
  last_ = number;
  ++facts_.num_numbers;
}

void ColumnInspector::add_text(std::string_view field, int64_t line, const CsvFormat& format,
                               DecimalMarks& marks) {
  const std::optional<NumberWithUnit> parts = split_unit(field);
  const std::string_view number = parts ? std::string_view(parts->number) : field;
  const bool has_unit = parts && number_in(number, format);
  if (!has_unit) add_grouped(number, format);
  const std::string plain = rewritten_number(number, format);
  if (!plain.empty()) {
    facts_.num_with_commas += parts ? 0 : 1;
    count_mark(number, plain, marks);
  }
  const bool is_date = dates_.add(field).has_value();
  if (has_unit) {
    if (facts_.num_with_unit++ == 0) facts_.unit = parts->unit;
    has_one_unit_ = has_one_unit_ && facts_.unit == parts->unit;
  }
  if (!has_unit) add_odd(field, is_date ? odd_dates_ : odd_texts_);
  const bool is_expected = is_date || has_unit;
  const bool is_first = facts_.num_texts++ == 0;
  // In a column of dates, or of numbers with a unit, that is the first other text.
  if (!is_first && (is_expected || !is_first_expected_)) return;
  is_first_expected_ = is_expected;
  facts_.first_non_number = field;
  facts_.first_non_number_line = line;
  facts_.without_commas = plain;
}

void ColumnInspector::add_grouped(std::string_view field, const CsvFormat& format) {
  if (format.thousands != '\0' || field.find_first_of("0123456789") > 1) return;
  const char other = format.decimal == ',' ? '.' : ',';
  for (size_t i = 0; i < grouped_.size(); ++i) {
    grouped_[i].mark = std::array{other, ' ', '\''}[i];
    const std::optional<std::string> plain = plain_number(field, format.decimal, grouped_[i].mark);
    if (!plain || !parse_double(*plain)) continue;
    ++grouped_[i].count;
    const bool has_decimal = field.find(format.decimal) != std::string_view::npos;
    const bool has_several = field.find(other) != field.rfind(other);
    grouped_[i].num_sure += has_decimal || (i != 1 && has_several) || i == 2 ? 1 : 0;
  }
}

void ColumnInspector::add_odd(std::string_view field, OddTexts& odd) {
  if (odd.are_many) return;
  odd.are_many = !count_text(field, static_cast<size_t>(kMaxOddTexts), odd.texts);
  if (odd.are_many) odd.texts.clear();
}

// By hashes, so that a column of a million long texts does not fill the memory.
void ColumnInspector::count_different(std::string_view field) {
  const size_t hash = std::hash<std::string_view>()(field);
  if (facts_.is_whole && facts_.num_distinct < kMaxDistinct) {
    const bool is_new = different_.insert(hash).second;
    facts_.num_distinct += is_new ? 1 : 0;
    facts_.has_repeats = facts_.has_repeats || !is_new;
  } else if (facts_.is_whole && !facts_.has_repeats) {
    facts_.has_repeats = different_.contains(hash);
  }
  if (facts_.is_whole && facts_.num_distinct <= kMaxLabels) {
    const std::string text(field.substr(0, kMaxLabelBytes));
    ++labels_.try_emplace(text, Label{.index = labels_.size(), .count = 0}).first->second.count;
  }
}

}  // namespace trainer::data
