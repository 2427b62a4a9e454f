// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace trainer::data {

/// The different texts of a column, numbered in the order in which they come.
class StringInterner {
 public:
  /// The number of `text`, and whether it is a new one.
  std::pair<size_t, bool> intern(std::string_view text) {
    const auto found = numbers_.find(text);
    if (found != numbers_.end()) return {found->second, false};
    return {numbers_.emplace(text, numbers_.size()).first->second, true};
  }

  size_t size() const { return numbers_.size(); }
  /// Forgets all texts.
  void clear() { numbers_.clear(); }

  /// The texts in their order; none are left here.
  std::vector<std::string> take() {
    std::vector<std::string> texts(numbers_.size());
    while (!numbers_.empty()) {
      auto node = numbers_.extract(numbers_.begin());
      texts[node.mapped()] = std::move(node.key());
    }
    return texts;
  }

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): the library's name
  };
  std::unordered_map<std::string, size_t, Hash, std::equal_to<>> numbers_;
};

}  // namespace trainer::data
