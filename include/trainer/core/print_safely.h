// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

// The border between texts and the terminal. Names, cells, notes, messages of libraries and of
// other processes may have characters that move the cursor, set titles or reorder what is read.
namespace trainer {

/// `text` with control characters (but for line feeds and tabs) and marks of writing direction as
/// escapes: "\x1b", "\u009b". Valid JSON is valid JSON of the same values then.
std::string safe_for_terminal(std::string_view text);

/// Writes safe_for_terminal(text) to standard output. Throws std::system_error.
void print_safely(std::string_view text);

/// The same on a terminal; elsewhere, in files and pipes, `text` as it is: programs read it.
void print_data(std::string_view text);

}  // namespace trainer
