// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace trainer::cli {

/// A flag, an option with a value, or a positional argument, and where it is written to when the
/// command line is read.
struct Option {
  /// A flag; one value; one value and whether it was given; one value each time it is given, or,
  /// of a positional argument, any number of values.
  using Target =
      std::variant<bool*, std::string*, std::optional<std::string>*, std::vector<std::string>*>;

  std::string names;  // "-o,--output"; of a positional argument without dashes: "path"
  Target target;
  std::string value_name;  // what --help calls the value: "FILE"; of a flag empty
  std::string help;
  std::string group = {};  // the heading in --help; empty: the usual one
};

/// What is wrong with the command line, a line each.
using Problems = std::vector<std::string>;

/// Writes the whole number `text` to `count`, unless `text` is empty. A problem: no whole number,
/// or less than `min`.
void parse_count(std::string_view flag, const std::string& text, int64_t& count, Problems& problems,
                 int64_t min = 1);

}  // namespace trainer::cli
