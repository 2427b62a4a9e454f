// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/option.h"

/// The only interface to CLI11. Only parser.cpp includes CLI11, which takes seconds to compile.
namespace trainer::cli {

struct CommandSpec {
  std::string name;  // "eval", or "config print" for the command print of the group config
  std::string help;
  std::vector<Option> options;
  bool is_group = false;    // a group, which requires one of its commands
  std::string footer = {};  // the end of its --help
};

/// The option --help, which every command has, and its help.
inline constexpr const char* kHelpFlag = "-h,--help";
inline constexpr const char* kHelpOfHelp = "Print this help and exit";

/// A program: options that may be given before or after any command, and commands.
struct ProgramSpec {
  std::string name;
  std::string description;
  std::string help;                     // what --help prints without a command
  std::vector<Option> options;          // of every command
  std::vector<Option> config_options;   // of commands with a configuration; one is positional
  std::vector<CommandSpec> commands;    // the first is the default
  std::vector<Option> default_options;  // of the default command, whose name may be omitted
  std::string default_footer;           // the end of the default command's --help
};

/// What the command line says besides the values of options.
struct ParsedArguments {
  std::string command;                     // "config print"; empty if none was given
  bool wants_help = false;                 // --help was given; then options may be unset
  std::function<std::string()> help;       // returns that of the command, or of the program
  std::vector<std::string> unknown_flags;  // as typed, without "=value"
  std::vector<std::string> known_flags;    // long flags of the program and of the command
};

/// Parses the command line and writes the values to the targets of the options. Throws
/// Error(kUsage) for a flag without a value and for a group without a command.
ParsedArguments parse_arguments(const ProgramSpec& program, int argc, const char* const* argv);

}  // namespace trainer::cli
