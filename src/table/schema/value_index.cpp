// SPDX-License-Identifier: Apache-2.0
#include "trainer/table/schema/value_index.h"

#include <algorithm>
#include <numeric>

#include "trainer/base/text/parse.h"
#include "trainer/table/source/exact_number.h"

namespace trainer::data {

namespace {

bool is_boolean(std::string_view text) {
  const std::string lower = lower_case(text);
  return lower == "true" || lower == "false";
}

std::string key_of_kind(std::string_view text, ValueKind kind) {
  switch (kind) {
    case ValueKind::kNumbers:
      return value_key(text);
    case ValueKind::kBooleans:
      return lower_case(text);
    case ValueKind::kTexts:
      break;
  }
  return std::string(text);
}

}  // namespace

ValueKind value_kind(std::span<const std::string> texts) {
  const auto is_number = [](const std::string& text) { return parse_double(text).has_value(); };
  if (texts.empty()) return ValueKind::kTexts;
  if (std::all_of(texts.begin(), texts.end(), is_number)) return ValueKind::kNumbers;
  return std::all_of(texts.begin(), texts.end(), is_boolean) ? ValueKind::kBooleans
                                                             : ValueKind::kTexts;
}

ValueIndex::ValueIndex(std::span<const std::string> texts) : kind_(value_kind(texts)) {
  const auto add = [](Index& index, std::string key, size_t i) {
    const auto [found, is_new] = index.emplace(std::move(key), i);
    if (!is_new) found->second = kSeveral;
  };
  for (size_t i = 0; i < texts.size(); ++i) {
    if (!by_text_.emplace(texts[i], i).second || kind_ == ValueKind::kTexts) continue;
    add(by_key_, key_of_kind(texts[i], kind_), i);
    if (std::optional<std::string> number = number_key(texts[i])) {
      add(by_number_, std::move(*number), i);
    }
  }
}

std::optional<size_t> ValueIndex::find(std::string_view text) const {
  if (const auto found = by_text_.find(text); found != by_text_.end()) return found->second;
  if (kind_ == ValueKind::kTexts) return std::nullopt;
  const auto only = [](const Index& index, const std::string& key) -> std::optional<size_t> {
    const auto found = index.find(key);
    if (found == index.end() || found->second == kSeveral) return std::nullopt;
    return found->second;
  };
  if (const auto found = only(by_key_, key_of_kind(text, kind_))) return found;
  const std::optional<std::string> number = number_key(text);
  return number ? only(by_number_, *number) : std::nullopt;
}

std::vector<std::string> distinct_values(const std::vector<std::string>& texts) {
  const ValueKind kind = value_kind(texts);
  std::unordered_map<std::string, size_t> places;
  std::vector<std::string> values;
  for (const std::string& text : texts) {
    const auto [found, is_new] = places.emplace(key_of_kind(text, kind), values.size());
    if (is_new) {
      values.push_back(text);
      continue;
    }
    std::string& value = values[found->second];
    const bool is_plainer =
        text.size() < value.size() || (text.size() == value.size() && text < value);
    if (is_plainer) value = text;
  }
  return values;
}

void sort_values(std::vector<std::string>& texts) {
  std::sort(texts.begin(), texts.end());
  std::vector<ExactNumber> numbers;
  numbers.reserve(texts.size());
  for (const std::string& text : texts) {
    std::optional<ExactNumber> number = exact_number(text);
    if (!number) return;
    numbers.push_back(std::move(*number));
  }
  std::vector<size_t> order(texts.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return numbers[a] < numbers[b]; });
  std::vector<std::string> sorted;
  sorted.reserve(texts.size());
  for (const size_t i : order) sorted.push_back(std::move(texts[i]));
  texts = std::move(sorted);
}

}  // namespace trainer::data
