// SPDX-License-Identifier: Apache-2.0
#include "trainer/config/yaml_sections.h"

namespace trainer::config {

std::string YamlSections::enter(std::string_view path) {
  std::string lines;
  std::size_t level = 0;
  for (std::size_t dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.')) {
    const std::string_view section = path.substr(0, dot);
    path.remove_prefix(dot + 1);
    if (level == open_.size() || open_[level] != section) {
      open_.resize(level);
      lines += indent() + std::string(section) + ":\n";
      open_.emplace_back(section);
    }
    ++level;
  }
  open_.resize(level);
  return lines;
}

}  // namespace trainer::config
