// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>

#include "cli/command.h"
#include "cli/commands.h"
#include "cli/common_options.h"

namespace trainer::cli {

/// What the command line asks for.
struct CommandLine {
  std::unique_ptr<Command> command;  // nullptr: `text` is the whole answer (--help, --version)
  std::string name;                  // of the command: "config print"
  CommonOptions common;
  std::string text;
};

/// Reads the command line of a program with these commands, one of which is "config print". Throws
/// Error(kUsage) with every problem and, where there is one, the flag or key that was meant.
CommandLine parse_command_line(std::span<const CommandRow> table, int argc,
                               const char* const* argv);

}  // namespace trainer::cli
