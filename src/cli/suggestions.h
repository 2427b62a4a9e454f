// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

/// Messages about unknown arguments, with what the user probably meant.
namespace trainer::cli {

/// Returns the end of a message about the unknown flag `given`: `; use --lr VALUE`, `; did you mean
/// "--epochs"?`, or an empty text.
std::string suggest_flag(const std::string& given, const std::vector<std::string>& known_flags);

/// Returns the problem with `word`, which is neither one of `commands` nor key=value. `origin` says
/// where it was given ("--set", "command line"); `flags` are the flags of the command.
std::string unknown_word(const std::string& word, const std::string& origin,
                         const std::vector<std::string>& commands,
                         const std::vector<std::string>& flags);

/// Returns the problem with `word`, which is neither one of `commands`, if there are any, nor the
/// name of a configuration key, with what was meant. `origin` is "help" or "config reference".
std::string unknown_topic(const std::string& origin, const std::string& word,
                          const std::vector<std::string>& commands);

/// Returns the problem with a group that was given without one of its commands. `arguments` are the
/// words that were given instead.
std::string missing_command(const std::string& group, const std::vector<std::string>& commands,
                            const std::vector<std::string>& arguments);

}  // namespace trainer::cli
