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
  /// The value in --help; empty for a flag. Shells complete it by what this says: FILE, FOLDER,
  /// RUN, RUN_OR_CHECKPOINT, COLUMN, NAME (of a column of `runs list`), KEY=VALUE; also "RUN ..."
  /// and "NAME,...".
  std::string value_name;
  std::string help;
  std::vector<std::string> words = {};  // values that are words: onnx, auto
  std::string group = {};               // the heading in --help; empty: the usual one
};

/// The names of an option: "-o" and "--output"; of a positional argument, its one name.
std::vector<std::string> names_of(const Option& option);

inline bool is_positional(const Option& option) { return !option.names.starts_with('-'); }
inline bool is_flag(const Option& option) { return std::holds_alternative<bool*>(option.target); }
/// Whether it may be given several times.
inline bool is_repeatable(const Option& option) {
  return std::holds_alternative<std::vector<std::string>*>(option.target);
}

/// Whether one of its names is `name`.
bool has_name(const Option& option, std::string_view name);

/// What is wrong with the command line, one line per problem.
using Problems = std::vector<std::string>;

/// Parses `text` as an integer into `count`, unless it is empty. Adds a problem if it is not an
/// integer or less than `min`.
void parse_count(std::string_view flag, const std::string& text, int64_t& count, Problems& problems,
                 int64_t min = 1);

}  // namespace trainer::cli
