// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string_view>

namespace trainer {

/// The first element of `all` with that `name`, or nullptr. `all` is a vector or an array of
/// structs.
template <typename All>
auto* find_by_name(All& all, std::string_view name) {
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const auto& element) { return element.name == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace trainer
