// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

/// The names of enumeration values in files and messages.

namespace trainer {

/// The names of all values, in the order of the values. Each enumeration with names specializes it.
template <typename Enum>
std::span<const std::string> enum_names();

/// The name of a value, such as "cross_entropy" for Loss::kCrossEntropy.
template <typename Enum>
const std::string& to_text(Enum value) {
  return enum_names<Enum>()[static_cast<std::size_t>(value)];
}

/// The value whose name is `text`, or nothing.
template <typename Enum>
std::optional<Enum> from_text(std::string_view text) {
  const std::span<const std::string> names = enum_names<Enum>();
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) return std::nullopt;
  return static_cast<Enum>(found - names.begin());
}

/// The first element of `all` with that `name`, or nullptr. `all` is a vector or an array of
/// structs.
template <typename All>
auto* find_by_name(All& all, std::string_view name) {
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const auto& element) { return element.name == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace trainer
