// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "cli/commands.h"
#include "cli/common_options.h"
#include "cli/option.h"
#include "cli/parser.h"

namespace trainer::cli {

/// A row of the table of commands, with the command object and its options.
struct TableCommand {
  const CommandRow* row;
  std::unique_ptr<Command> command;  // nullptr for a group
  std::vector<Option> options;       // these write to members of `command`
};

/// All commands and options of the program, before a command line has been read.
struct Program {
  /// Makes the program with the commands of `table`, the first of which is the default.
  explicit Program(std::span<const CommandRow> table);

  /// Returns the command or group with that name, such as "config print", or nullptr.
  TableCommand* find(std::string_view name);

  CommonFlags flags;
  std::vector<TableCommand> commands;
  ProgramSpec spec;
};

/// Runs the whole program except for error handling: parses the command line and runs the command.
/// Returns the exit code of the command, or 128 plus the number of the signal that stopped it.
/// Throws Error.
int dispatch(int argc, const char* const* argv);

}  // namespace trainer::cli
