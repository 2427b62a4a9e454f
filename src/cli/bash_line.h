// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trainer::cli {

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
