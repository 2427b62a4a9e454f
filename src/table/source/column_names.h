// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace trainer::data {

/// The columns of a header by their names.
class ColumnIndex {
 public:
  /// `names` must outlive the index.
  explicit ColumnIndex(const std::vector<std::string>& names) {
    indices_.reserve(names.size());
    for (size_t i = 0; i < names.size(); ++i) indices_.emplace(names[i], i);
  }

  /// The index of the column, or nothing.
  std::optional<size_t> find(std::string_view name) const {
    const auto found = indices_.find(name);
    return found == indices_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  std::unordered_map<std::string_view, size_t> indices_;
};

/// Throws Error(kData) for a column without a name, two of one name, and bytes that are no UTF-8.
void require_good_names(const std::string& location, const std::vector<std::string>& names);

/// Throws Error(kData) when there is one name only, as there is with a wrong delimiter.
/// `option` is how it can be chosen: "data.delimiter: ".
void require_several(const std::vector<std::string>& names, const std::string& location,
                     char delimiter, const std::string& option);

/// Whether `text` is a pattern with * or ? for names.
bool is_pattern(std::string_view text);

/// What to tell somebody whose column is not there: the nearest name, or some that are.
std::string missing_column_help(std::string_view wanted, const std::vector<std::string>& names);

}  // namespace trainer::data
