// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <yaml-cpp/yaml.h>

namespace trainer::config {

/// What is wrong with a YAML text, in words, and in which line, counted from 1.
struct YamlProblem {
  int line = 1;
  std::string text;
};

/// Parses the only document of `text`; the result is null if it has no content. Throws YamlProblem.
YAML::Node read_yaml(const std::string& text);

using YamlEntries = std::vector<std::pair<YAML::Node, YAML::Node>>;

/// Returns the entries of a mapping, then those of the mappings that its `<<` keys name, except for
/// keys that it has itself, as in YAML 1.1. Throws YamlProblem for a `<<` that names no mapping.
YamlEntries entries_of(const YAML::Node& mapping);

}  // namespace trainer::config
