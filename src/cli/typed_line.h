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

/// What the words of an unfinished command line say so far. Unknown words are ignored.
struct TypedLine {
  TableCommand* command = nullptr;     // the default one until another one is named
  bool is_named = false;               // a command or a group has been named
  std::string group;                   // "runs": the next word is one of its commands; else empty
  const Option* awaiting = nullptr;    // the option whose value is the next word; else nullptr
  std::vector<std::string> arguments;  // values of positional arguments, after the command
  std::map<std::string, std::string> given;  // the last value of each option, by Option::names
  CommonOptions common;
};

/// Reads complete words. The result points into `program`, whose options receive the values.
TypedLine read_typed_line(Program& program, std::span<const std::string> words);

/// Returns all options that the line may have, those of its command first.
std::vector<const Option*> options_of(const Program& program, const TypedLine& line);

/// Returns the positional argument that the next word belongs to, or nullptr. Words after those of
/// the command belong to key=value.
const Option* next_argument(const Program& program, const TypedLine& line);

/// Returns whether the command takes `key` of the configuration: its check() must not have more
/// problems with the key than without it.
bool takes_key(const TypedLine& line, const std::string& key);

/// Returns `text` quoted as one word of a shell command, in single quotes only if necessary.
std::string shell_word(const std::string& text);

}  // namespace trainer::cli
