// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>

#include "cli/commands.h"
#include "cli/common_options.h"

namespace trainer::cli {

/// A command that is ready to run, or a text to print instead.
struct CommandLine {
  std::unique_ptr<Command> command;  // nullptr if there is only `text` to print (--help, --version)
  std::string name;                  // of the command, such as "config print"
  CommonOptions common;
  std::string text;
};

/// Parses the command line of a program with the commands of `table`, one of which is "config
/// print". Throws Error(kUsage) with all problems, each with the flag or key that was probably
/// meant if one is similar.
CommandLine parse_command_line(std::span<const CommandRow> table, int argc,
                               const char* const* argv);

}  // namespace trainer::cli
