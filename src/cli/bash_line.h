// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trainer::cli {

/// A command line that is typed in bash, up to the cursor.
struct BashLine {
  std::vector<std::string> words;  // without quotes; the last one is typed
  std::size_t num_kept = 0;        // bytes of that which bash does not replace
  char quote = '\0';               // that is open at the cursor: ' or "
};

/// `line` up to the cursor, whose end `replaced` bash replaces by a completion: of key=val only
/// val, and of 'a b only what follows the quote.
BashLine read_bash_line(std::string_view line, std::string_view replaced);

/// `word` as bash is told to write it in place of what is typed: without what it keeps, with the
/// characters that mean something escaped, and with a space behind a complete word.
std::string bash_text(const BashLine& line, const std::string& word, bool is_part);

}  // namespace trainer::cli
