// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace trainer::config {

/// Opens the sections of a YAML file that is written key by key.
class YamlSections {
 public:
  /// Enters the sections of the key `path`, such as "training.schedule" for
  /// "training.schedule.name". Returns the lines that open those sections that the previous key was
  /// not in.
  std::string enter(std::string_view path);

  /// Returns the number of nested sections that the last key is in.
  std::size_t depth() const { return open_.size(); }

  /// Returns the spaces before a line in the section of the last key, two for each level.
  std::string indent() const { return std::string(2 * depth(), ' '); }

 private:
  std::vector<std::string> open_;  // sections of the last key, outermost first
};

}  // namespace trainer::config
