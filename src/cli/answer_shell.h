// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "cli/commands.h"

namespace trainer::cli {

/// What the scripts of `trainer completion` call: `trainer __complete SHELL ...`.
inline constexpr const char* kCompleteCommand = "__complete";

/// The answer to the script of a shell, a line for each candidate. `arguments` follow the command:
///   bash LINE REPLACED    see bash_line.h; candidates as bash is to write them
///   zsh WORD...           the words up to the cursor; candidates with a tab and their help, after
///                         a space if they are complete or "-"; ":files", ":folders" and
///                         ":checkpoints" are for zsh to complete
///   fish WORD...          candidates with a tab and their help
/// Empty if there are none and for any error: nothing may disturb the line that is typed.
std::string answer_shell(std::span<const CommandRow> table, std::span<const std::string> arguments);

}  // namespace trainer::cli
