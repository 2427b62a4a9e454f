// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace trainer::cli {

/// A flag, an option with a value, or a positional argument, and the variable that receives its
/// value when the command line is parsed.
struct Option {
  /// A flag; a value; a value and whether it was given; several values, for a repeated option or a
  /// positional argument.
  using Target =
      std::variant<bool*, std::string*, std::optional<std::string>*, std::vector<std::string>*>;

  std::string names;  // "-o,--output"; of a positional argument without dashes: "path"
  Target target;
  std::string value_name;  // the value in --help: "FILE"; empty for a flag
  std::string help;
  std::string group = {};  // the heading in --help; empty: the usual one
};

/// What is wrong with the command line, one line per problem.
using Problems = std::vector<std::string>;

/// Parses `text` as an integer into `count`, unless it is empty. Adds a problem if it is not an
/// integer or less than `min`.
void parse_count(std::string_view flag, const std::string& text, int64_t& count, Problems& problems,
                 int64_t min = 1);

}  // namespace trainer::cli
