// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trainer::cli {

struct CommandRow;
struct ProgramSpec;

/// An exit code of the program and what it means.
struct ExitCode {
  int code;
  const char* name;     // short, for --help
  const char* meaning;  // a sentence without its full stop, for the manual
};

/// Returns all exit codes in ascending order.
std::span<const ExitCode> exit_codes();

/// A command line for users to begin with.
struct Example {
  const char* command;
  const char* meaning;  // a sentence without its full stop
};

/// Returns the examples of --help and of the manual page, at least one for each command.
std::span<const Example> examples();

/// Returns the examples of a command, such as "config print", as the end of its --help.
std::string examples_of(std::string_view command);

/// Says in the --help of commands that take a configuration how it is given.
inline constexpr const char* kConfigurationHelp =
    "\nThe configuration is given as for training: --config FILE, KEY=VALUE and the\n"
    "flags of keys, such as --lr; trainer train --help lists them.\n";

/// Returns what `trainer --help` prints: the commands by task, the main options and exit codes.
std::string program_help(const ProgramSpec& program, std::span<const CommandRow> table);

/// Returns what `trainer help KEY` and `trainer config reference KEY` print about the keys that
/// `names` name. `origin` is one of these commands without KEY. Throws Error(kUsage) for a name
/// that is neither one of a key nor one of `commands`.
std::string help_on_keys(const std::string& origin, const std::vector<std::string>& names,
                         const std::vector<std::string>& commands);

/// Returns the text of --version: the versions of the program and its libraries, BLAS and compiler.
std::string version_text();

}  // namespace trainer::cli
