// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

/// Messages about unknown arguments.
namespace trainer::cli {

/// `; use --lr VALUE`, or `; did you mean "--epochs"?`, or an empty text.
std::string suggest_flag(const std::string& given, const std::vector<std::string>& known_flags);

/// The problem with `word`, which is neither one of `commands` nor key=value. `origin` is where it
/// was given: "--set", "command line"; `flags` are those that the command takes.
std::string unknown_word(const std::string& word, const std::string& origin,
                         const std::vector<std::string>& commands,
                         const std::vector<std::string>& flags);

/// What is wrong with `trainer help WORD`, and a command with a similar name.
std::string unknown_topic(const std::string& word, const std::vector<std::string>& commands);

/// The problem with a group without a command; `arguments` were given instead.
std::string missing_command(const std::string& group, const std::vector<std::string>& commands,
                            const std::vector<std::string>& arguments);

}  // namespace trainer::cli
