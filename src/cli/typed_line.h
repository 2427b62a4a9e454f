// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "cli/common_options.h"
#include "cli/option.h"
#include "cli/program.h"

namespace trainer::cli {

/// A command line that is still typed: what its words say so far. Nothing in it is an error.
struct TypedLine {
  TableCommand* command = nullptr;           // the default one until another is named
  bool is_named = false;                     // the command or its group
  std::string group;                         // "runs": the next word is one of its commands
  const Option* awaiting = nullptr;          // the option whose value comes next
  std::vector<std::string> arguments;        // values of positional arguments, behind the command
  std::map<std::string, std::string> given;  // the last value of each option, by Option::names
  CommonOptions common;
};

/// Reads complete words; points into `program`, whose options take their values.
TypedLine read_typed_line(Program& program, std::span<const std::string> words);

/// All options of the line: those of its command first.
std::vector<const Option*> options_of(const Program& program, const TypedLine& line);

/// The positional argument that the next word is; the last one is that of key=value.
const Option* next_argument(const Program& program, const TypedLine& line);

/// Whether the command takes `key` of the configuration, by its own check.
bool takes_key(const TypedLine& line, const std::string& key);

}  // namespace trainer::cli
