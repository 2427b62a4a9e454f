// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <yaml-cpp/yaml.h>

namespace trainer::config {

/// What is wrong with a text as YAML, in words, and the line of it from 1 on.
struct YamlProblem {
  int line = 1;
  std::string text;
};

/// The only document of `text`, null where it has none. Throws YamlProblem.
YAML::Node read_yaml(const std::string& text);

using YamlEntries = std::vector<std::pair<YAML::Node, YAML::Node>>;

/// The entries of a mapping, then those of the mappings that its keys `<<` name and that it does
/// not have itself, as in YAML 1.1. Throws YamlProblem for a `<<` that names no mapping.
YamlEntries entries_of(const YAML::Node& mapping);

}  // namespace trainer::config
