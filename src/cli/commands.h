// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "cli/common_options.h"
#include "cli/option.h"

namespace trainer::cli {

/// A command of the program, such as `trainer eval`. Its options write to its members, so it must
/// outlive the parsing of the command line.
class Command {
 public:
  virtual ~Command() = default;

  /// Returns the options of this command. Those that the default command has, too, may also be
  /// given before the name of this command.
  virtual std::vector<Option> options() { return {}; }

  /// Whether it takes --config, KEY=VALUE and the flags of keys.
  virtual bool takes_configuration() const { return false; }

  /// Returns the text at the end of --help, behind the examples.
  virtual std::string footer() const { return ""; }

  /// Adds a problem for each option that is wrong or missing. Required options are checked here,
  /// after parsing, so that unknown (maybe misspelled) flags are reported first.
  virtual void check(const CommonOptions& /*common*/, Problems& /*problems*/) {}

  /// Runs the command and returns the exit code of the program. Throws Error.
  virtual int run(const CommonOptions& common) = 0;

  /// Returns the folder of the run that run() has made; empty if it made none.
  const std::filesystem::path& run_folder() const { return run_folder_; }

  /// Makes run() print JSON, as the option --json of the commands that have it does.
  void print_json() { json_ = true; }

 protected:
  std::filesystem::path run_folder_;
  bool json_ = false;
};

/// A command, or a group of commands such as `trainer config`.
struct CommandRow {
  const char* name = "";  // "eval", or "config print" for the command print of the group config
  const char* help = "";  // one line for --help
  std::unique_ptr<Command> (*make)() = nullptr;  // none for a group; its commands are the next rows
  const char* task = "";                         // the heading above it in --help
};

/// Returns all commands in the order of --help. The first one runs if the command line names none.
std::span<const CommandRow> command_table();

/// Makes the command of the row with this name, which must be in the table.
std::unique_ptr<Command> make_command(std::string_view name);

}  // namespace trainer::cli
