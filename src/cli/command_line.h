// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>

#include "cli/command.h"
#include "cli/commands.h"
#include "cli/common_options.h"

namespace trainer::cli {

/// The parsed command line.
struct CommandLine {
  std::unique_ptr<Command> command;  // nullptr: only print `text` (--help, --version)
  std::string name;                  // of the command: "config print"
  CommonOptions common;
  std::string text;
};

/// Reads the command line of a program with these commands, one of which is "config print". Throws
/// Error(kUsage) with every problem and, if there is one, the flag or key that was probably meant.
CommandLine parse_command_line(std::span<const CommandRow> table, int argc,
                               const char* const* argv);

}  // namespace trainer::cli
