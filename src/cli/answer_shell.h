// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "cli/commands.h"

namespace trainer::cli {

/// The hidden command that completion scripts call: `trainer __complete SHELL ...`.
inline constexpr const char* kCompleteCommand = "__complete";

/// Returns the answer to the completion script of a shell, one line for each candidate.
/// `arguments` are the words after kCompleteCommand:
///   bash LINE REPLACED    see read_bash_line(); each line is what bash inserts
///   zsh WORD...           the words up to the cursor. A line begins with a space, or with "-" if
///                         more of the word follows; then come the candidate, a tab and its help.
///                         A last line ":files", ":folders" or ":checkpoints" asks zsh for these
///   fish WORD...          a line has the candidate, a tab and its help
/// The answer is empty if there are no candidates and after any error, because a message would
/// disturb the line that is being typed.
std::string answer_shell(std::span<const CommandRow> table, std::span<const std::string> arguments);

}  // namespace trainer::cli
