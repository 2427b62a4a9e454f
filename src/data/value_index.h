// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "trainer/core/parse.h"

namespace trainer::data {

/// Finds labels and categories of a trained model. Where all are numbers, another spelling of one
/// is the same: pandas writes 1 as 1.0 as soon as a cell of the column is missing.
class ValueIndex {
 public:
  /// `texts` must outlive the index.
  explicit ValueIndex(std::span<const std::string> texts) {
    bool are_numbers = true;
    for (size_t i = 0; i < texts.size(); ++i) {
      by_text_.emplace(texts[i], i);
      const std::optional<double> number = parse_double(texts[i]);
      are_numbers = are_numbers && number;
      if (are_numbers) by_number_.emplace(*number, i);
    }
    if (!are_numbers) by_number_.clear();
  }

  /// The index of `text`, or nothing.
  std::optional<size_t> find(std::string_view text) const {
    if (const auto found = by_text_.find(text); found != by_text_.end()) return found->second;
    if (by_number_.empty()) return std::nullopt;
    const std::optional<double> number = parse_double(text);
    const auto found = number ? by_number_.find(*number) : by_number_.end();
    return found == by_number_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  std::unordered_map<std::string_view, size_t> by_text_;
  std::unordered_map<double, size_t> by_number_;
};

}  // namespace trainer::data
