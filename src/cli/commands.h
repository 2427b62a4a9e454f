// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>

#include "cli/command.h"

namespace trainer::cli {

/// A row of the table of commands.
struct CommandRow {
  const char* name;                    // "eval", or "config print": the command print of a group
  const char* help;                    // one line
  std::unique_ptr<Command> (*make)();  // nullptr: a group, whose commands follow
};

/// All commands in the order of --help; the first is what the program does without a command.
std::span<const CommandRow> command_table();

}  // namespace trainer::cli
