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
  /// A flag; a value; a value that is nothing if it was not given; all values of an option that may
  /// be repeated or of a positional argument.
  using Target =
      std::variant<bool*, std::string*, std::optional<std::string>*, std::vector<std::string>*>;

  std::string names;  // "-o,--output"; a positional argument has one name without dashes: "path"
  Target target;
  /// The placeholder of the value in --help; empty for a flag. It decides how shells complete the
  /// value: FILE, FOLDER, RUN, RUN_OR_CHECKPOINT, REMOVED (a removed run), COLUMN, KEY, NAME (of a
  /// column of `runs list`), KEY=VALUE; also "RUN ..." and "NAME,...".
  std::string value_name;
  std::string help;
  std::vector<std::string> words = {};  // words that the value may be, such as "auto"
  std::string group = {};               // the heading in --help; empty: the usual one
};

/// Returns the names of an option, such as "-o" and "--output"; for a positional argument, its one
/// name.
std::vector<std::string> names_of(const Option& option);

/// The value_name of options that take a key with its value, or a key alone.
inline constexpr const char* kKeyValue = "KEY=VALUE";
inline constexpr const char* kKey = "KEY";

inline bool is_positional(const Option& option) { return !option.names.starts_with('-'); }
inline bool is_flag(const Option& option) { return std::holds_alternative<bool*>(option.target); }
/// Returns whether a word between the flags is a key with its value ("seed=7"), and not another
/// argument of the command: the path of a file that exists, or one with folders.
bool is_key_value(const std::string& word);
/// Returns whether the option may be given several times.
inline bool is_repeatable(const Option& option) {
  return std::holds_alternative<std::vector<std::string>*>(option.target);
}

/// Returns whether one of the option's names is `name`.
bool has_name(const Option& option, std::string_view name);

/// What is wrong with the command line, an element for each problem.
using Problems = std::vector<std::string>;

/// Parses `text` as an integer into `count`; an empty text leaves it unchanged. Adds a problem if
/// it is not an integer or is less than `min`.
void parse_count(std::string_view flag, const std::string& text, int64_t& count, Problems& problems,
                 int64_t min = 1);

/// Parses `text`, the value of --time, into `seconds`; an empty text leaves them unchanged. Adds a
/// problem if it is not a time above 0.
void parse_time(const std::string& text, double& seconds, Problems& problems);

}  // namespace trainer::cli
