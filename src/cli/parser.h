// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/option.h"

/// The door to CLI11, which takes seconds to compile and is included in parser.cpp only.
namespace trainer::cli {

struct CommandSpec {
  std::string name;  // "eval", or "config print": the command print of the group config
  std::string help;
  std::vector<Option> options;
  bool is_group = false;  // only has commands, of which one has to be named
};

/// A program: options that stand before or after any command, and commands.
struct ProgramSpec {
  std::string name;
  std::string description;
  std::string footer;           // of --help
  std::vector<Option> options;  // one positional argument among them: words that are no command
  std::vector<CommandSpec> commands;  // the first: what the program does without a command
  std::string default_footer;         // of the help of the first command
};

/// What is known of the command line when the options are written.
struct ParsedArguments {
  std::string command;      // the name of the command, "config print"; empty: none was named
  bool wants_help = false;  // --help; then no option needs to be written
  std::function<std::string()> help;       // of the command, or of the program
  std::vector<std::string> unknown_flags;  // as typed, without "=value"
  std::vector<std::string> known_flags;    // the long ones of the program and of the command
};

/// Writes the options that the command line has. Throws Error(kUsage) for a flag without its
/// value and for a group without a command.
ParsedArguments parse_arguments(const ProgramSpec& program, int argc, const char* const* argv);

}  // namespace trainer::cli
