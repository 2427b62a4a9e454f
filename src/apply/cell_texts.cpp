// SPDX-License-Identifier: Apache-2.0
#include "trainer/apply/cell_texts.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <set>

#include "trainer/base/text/format.h"
#include "trainer/base/text/parse.h"
#include "trainer/table/schema/value_index.h"
#include "trainer/table/source/exact_number.h"

namespace trainer::apply {
namespace {

// Adds all combinations of capital and small letters of a text with few letters; for longer texts
// only small letters, all capitals, and a capital first letter.
void add_capitals(const std::string& text, std::set<std::string>& spellings) {
  constexpr std::size_t kManyLetters = 10;
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  std::vector<std::size_t> letters;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_letter(text[i])) letters.push_back(i);
  }
  const std::string lower = lower_case(text);
  const auto with_capitals = [&](uint64_t capitals) {
    std::string spelling = lower;
    for (std::size_t i = 0; i < letters.size(); ++i) {
      char& c = spelling[letters[i]];
      if ((capitals >> std::min<std::size_t>(i, 63) & 1U) != 0)
        c = static_cast<char>(c - 'a' + 'A');
    }
    return spelling;
  };
  spellings.insert(text);
  if (letters.size() > kManyLetters) {
    for (const uint64_t capitals : {uint64_t{0}, uint64_t{1}, ~uint64_t{0}}) {
      spellings.insert(with_capitals(capitals));
    }
    return;
  }
  for (uint64_t capitals = 0; capitals < uint64_t{1} << letters.size(); ++capitals) {
    spellings.insert(with_capitals(capitals));
  }
}

// Returns the plain spellings of a number that programs commonly write, such as 7 and 7.0, or 0.5.
std::vector<std::string> plain_spellings(const data::ExactNumber& number) {
  constexpr int64_t kMaxZeros = 20;
  const auto num_digits = static_cast<int64_t>(number.digits.size());
  if (number.exponent > num_digits + kMaxZeros || number.exponent < -kMaxZeros) return {};
  const std::string sign = number.is_negative ? "-" : "";
  std::string digits = number.digits.empty() ? "0" : number.digits;
  if (number.exponent >= num_digits) {
    digits.append(static_cast<std::size_t>(number.exponent - num_digits), '0');
    return {sign + digits, sign + digits + ".0"};
  }
  if (number.exponent <= 0) {
    return {sign + "0." + std::string(static_cast<std::size_t>(-number.exponent), '0') + digits};
  }
  digits.insert(static_cast<std::size_t>(number.exponent), ".");
  return {sign + digits};
}

// Adds other spellings of the categories, because the operator compares texts exactly: plain
// spellings of numbers, and common spellings of booleans.
void add_spellings(std::vector<std::string>& texts, std::vector<int64_t>& numbers) {
  const std::vector<std::string> categories = texts;
  const data::ValueIndex index(categories);
  std::set<std::string> known(texts.begin(), texts.end());
  const auto add = [&](const std::string& spelling) {
    const std::optional<std::size_t> category = index.find(spelling);
    if (!category || !known.insert(spelling).second) return;
    texts.push_back(spelling);
    numbers.push_back(static_cast<int64_t>(*category));
  };
  for (const std::string& category : categories) {
    if (const std::optional<data::ExactNumber> number = data::exact_number(category)) {
      for (const std::string& spelling : plain_spellings(*number)) add(spelling);
    }
  }
  if (data::value_kind(categories) != data::ValueKind::kBooleans) return;
  for (const char* spelling : {"true", "True", "TRUE", "false", "False", "FALSE"}) add(spelling);
}

}  // namespace

MissingValues missing_values(const data::Schema& schema) {
  MissingValues missing;
  std::set<std::string> spellings;
  for (const std::string& text : schema.missing) {
    add_capitals(text, spellings);
    const std::optional<double> number = parse_double(text);
    if (!number) continue;
    missing.numbers.push_back(*number);
    const std::string shortest_text = shortest(*number);
    spellings.insert(shortest_text);
    if (std::trunc(*number) == *number) spellings.insert(shortest_text + ".0");
  }
  spellings.erase("");
  missing.texts.insert(missing.texts.end(), spellings.begin(), spellings.end());
  return missing;
}

CellTexts cell_texts(const data::Column& column, const MissingValues& missing) {
  CellTexts known = {.texts = column.categories,
                     .numbers = std::vector<int64_t>(column.categories.size())};
  std::iota(known.numbers.begin(), known.numbers.end(), 0);
  add_spellings(known.texts, known.numbers);
  if (column.has_missing_indicator) {
    known.texts.insert(known.texts.end(), missing.texts.begin(), missing.texts.end());
    known.numbers.resize(known.texts.size(), static_cast<int64_t>(column.categories.size()));
  }
  return known;
}

}  // namespace trainer::apply
