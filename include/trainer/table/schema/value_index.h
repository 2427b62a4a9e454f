// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace trainer::data {

/// What the values of a column are, which decides how else they may be written: numbers as
/// value_key() says, booleans in any capitals, texts in no other way.
enum class ValueKind { kTexts, kNumbers, kBooleans };

/// That of all `texts`.
ValueKind value_kind(std::span<const std::string> texts);

/// Finds the values of a list, labels or categories, in any spelling of their kind.
class ValueIndex {
 public:
  /// `texts` must outlive the index.
  explicit ValueIndex(std::span<const std::string> texts);

  /// The index of `text`: of the one that is written so; else of the only one with its key; else of
  /// the only one that is the same number; or nothing.
  std::optional<size_t> find(std::string_view text) const;

 private:
  static constexpr size_t kSeveral = static_cast<size_t>(-1);
  using Index = std::unordered_map<std::string, size_t>;

  ValueKind kind_;
  std::unordered_map<std::string_view, size_t> by_text_;
  Index by_key_;
  Index by_number_;
};

/// One spelling of each value, the shortest: the others are left out. The order stays.
std::vector<std::string> distinct_values(const std::vector<std::string>& texts);

/// Sorts numbers by value where all are such, then all by their bytes.
void sort_values(std::vector<std::string>& texts);

}  // namespace trainer::data
