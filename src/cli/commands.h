// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>

#include "cli/command.h"

namespace trainer::cli {

/// A command, or a group of commands such as `trainer config`.
struct CommandRow {
  const char* name;  // "eval", or "config print" for the command print of the group config
  const char* help;  // one line for --help
  std::unique_ptr<Command> (*make)();  // nullptr for a group; its commands are the next rows
};

/// Returns all commands in the order of --help. The first one runs if the command line names none.
std::span<const CommandRow> command_table();

}  // namespace trainer::cli
