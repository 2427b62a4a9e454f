// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

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

/// A command line that is typed in bash, up to the cursor.
struct BashLine {
  std::vector<std::string> words;  // without quotes; the last one is the word at the cursor
  std::size_t num_kept = 0;        // bytes of the last word that bash does not replace
  char quote = '\0';  // the quote that is open at the cursor, ' or "; '\0' if there is none
};

/// Reads `line`, a command line up to the cursor. Its end `replaced` is what bash replaces by a
/// completion: of key=val only val, of 'a b only what follows the quote.
BashLine read_bash_line(std::string_view line, std::string_view replaced);

/// Returns what bash inserts for the completed `word`: without the first `line.num_kept` bytes,
/// with special characters escaped, and with a space at the end unless `is_part` or a quote is
/// open.
std::string bash_text(const BashLine& line, const std::string& word, bool is_part);

}  // namespace trainer::cli
