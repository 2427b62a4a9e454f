// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "cli/command.h"
#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/option.h"
#include "cli/parser.h"

namespace trainer::cli {

/// A row of the table with its command and options.
struct TableCommand {
  const CommandRow* row;
  std::unique_ptr<Command> command;  // nullptr: a group
  std::vector<Option> options;       // point into the command
};

/// The program before it has read a command line: its commands and everything that they take.
struct Program {
  /// The program with the commands of `table`, the first of which is the default.
  explicit Program(std::span<const CommandRow> table);

  /// The command or group of that name, "config print", or nullptr.
  TableCommand* find(std::string_view name);

  CommonFlags flags;
  std::vector<TableCommand> commands;
  ProgramSpec spec;
};

}  // namespace trainer::cli
