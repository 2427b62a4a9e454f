// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

// Protects the terminal from untrusted text: names, cells, notes and messages of libraries and
// other processes may contain characters that move the cursor, set titles or reorder the text.
namespace trainer {

/// `text` with control characters (except line feeds and tabs) and marks of writing direction as
/// escapes: "\x1b", "\u009b". Valid JSON remains valid JSON with the same values.
std::string safe_for_terminal(std::string_view text);

/// Writes safe_for_terminal(text) to standard output. Throws std::system_error.
void print_safely(std::string_view text);

/// Like print_safely() if standard output is a terminal; files and pipes, which programs read, get
/// `text` unchanged.
void print_data(std::string_view text);

}  // namespace trainer
