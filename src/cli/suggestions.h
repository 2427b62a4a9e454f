// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

/// What to say of words on the command line that are unknown.
namespace trainer::cli {

/// `; use --lr VALUE`, or `; did you mean "--epochs"?`, or an empty text.
std::string suggest_flag(const std::string& given, const std::vector<std::string>& known_flags);

/// The problem with `word`, which is neither one of `commands` nor key=value. `origin` is how it
/// was given: "--set", "command line".
std::string unknown_word(const std::string& word, const std::string& origin,
                         const std::vector<std::string>& commands);

/// The problem with a group of commands of which none was named; `words` were given instead.
std::string missing_command(const std::string& group, const std::vector<std::string>& commands,
                            const std::vector<std::string>& words);

}  // namespace trainer::cli
