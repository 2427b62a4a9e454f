// SPDX-License-Identifier: Apache-2.0
#include "trainer/table/source/target_cells.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "trainer/base/text/parse.h"

namespace trainer::data {
namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

std::string to_text(double number, TargetCells::Written written) {
  std::string text = fmt::format("{}", number);
  if (written == TargetCells::Written::kWhole) {
    text = fmt::format("{}", static_cast<int64_t>(number));
  } else if (text.find_first_not_of("-0123456789") == std::string::npos) {
    text += ".0";
  }
  return text;
}

}  // namespace

TargetCells::TargetCells(std::initializer_list<std::string_view> texts) {
  for (const std::string_view text : texts) push_back(text);
}

void TargetCells::expect_labels() { max_labels_ = std::numeric_limits<size_t>::max(); }

void TargetCells::clear() {
  numbers_.clear();
  codes_.clear();
  labels_.clear();
  label_numbers_.clear();
  codes_of_texts_.clear();
  codes_of_numbers_.clear();
  odd_.clear();
  has_labels_ = true;
  are_numbers_ = true;
}

void TargetCells::reserve(size_t size) {
  reserved_ = size;
  if (has_labels_) {
    codes_.reserve(size);
  } else {
    numbers_.reserve(size);
  }
}

void TargetCells::resize(size_t size) {
  if (has_labels_) {
    codes_.resize(size);
  } else {
    numbers_.resize(size, kNoNumber);
  }
  odd_.erase(odd_.lower_bound(size), odd_.end());
}

void TargetCells::push_back(std::string_view text) {
  resize(size() + 1);
  set(size() - 1, text);
}

void TargetCells::set(size_t cell, std::string_view text) {
  if (has_labels_) {
    set_label(cell, text);
    return;
  }
  const std::optional<double> number = parse_double(text);
  numbers_[cell] = number.value_or(kNoNumber);
  if (!number && odd_.size() < kMaxLabels) odd_.emplace(cell, text);
}

void TargetCells::set(size_t cell, double number, Written written) {
  const auto known = has_labels_ ? codes_of_numbers_.find(number) : codes_of_numbers_.end();
  if (known != codes_of_numbers_.end()) {
    codes_[cell] = known->second;
  } else if (!has_labels_) {
    numbers_[cell] = number;
  } else {
    codes_of_numbers_.emplace(number, set_label(cell, to_text(number, written)));
  }
}

std::string TargetCells::text(size_t cell) const {
  if (has_labels_) return labels_[label(cell)];
  const auto odd = odd_.find(cell);
  return odd == odd_.end() ? fmt::format("{}", numbers_[cell]) : odd->second;
}

bool TargetCells::set_recent(size_t cell, std::string_view text) {
  if (!has_labels_) return false;
  const std::optional<size_t> known = codes_of_texts_.recent(text);
  if (known) codes_[cell] = static_cast<int32_t>(*known);
  return known.has_value();
}

bool TargetCells::operator==(const TargetCells& other) const {
  if (size() != other.size()) return false;
  for (size_t cell = 0; cell < size(); ++cell) {
    if (text(cell) != other.text(cell)) return false;
  }
  return true;
}

/// Returns the code of the text.
int32_t TargetCells::set_label(size_t cell, std::string_view text) {
  const auto [known, is_new] = codes_of_texts_.intern(text);
  const auto code = static_cast<int32_t>(known);
  codes_[cell] = code;
  if (is_new) {
    const std::optional<double> number = parse_double(text);
    labels_.emplace_back(text);
    label_numbers_.push_back(number.value_or(kNoNumber));
    are_numbers_ = are_numbers_ && number;
  }
  if (labels_.size() > max_labels_ && are_numbers_) forget_labels();
  return code;
}

// The first ones stay, to tell that they are many.
void TargetCells::forget_labels() {
  numbers_.reserve(std::max(reserved_, codes_.size()));
  for (const int32_t code : codes_) numbers_.push_back(label_numbers_[static_cast<size_t>(code)]);
  has_labels_ = false;
  codes_ = {};
  codes_of_texts_.clear();
  codes_of_numbers_.clear();
}

}  // namespace trainer::data
