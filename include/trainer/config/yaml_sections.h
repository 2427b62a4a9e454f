// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace trainer::config {

/// The sections of a YAML file that is written key by key.
class YamlSections {
 public:
  /// Enters the sections of the key `path`, such as "training.schedule" of
  /// "training.schedule.name". Returns the lines that begin those in which the key before did not
  /// stand.
  std::string enter(std::string_view path);

  /// How many sections the last key stands in.
  std::size_t depth() const { return open_.size(); }

  /// The spaces before a line of the last key's section.
  std::string indent() const { return std::string(2 * depth(), ' '); }

 private:
  std::vector<std::string> open_;  // of the last key, outermost first
};

}  // namespace trainer::config
