// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace trainer {

/// What may be written to standard error, or standard output.
struct Terminal {
  bool redraws = false;  // one line may be drawn again and again; false: plain lines only
  bool colors = false;
  int width = 80;        // columns
  bool unicode = false;  // characters beyond ASCII
};

/// The variables of the environment that decide, by name; absent ones are empty.
struct TerminalEnvironment {
  bool is_terminal = false;
  std::string term = {};
  std::string no_color = {};
  std::string force_color = {};
  std::string ci = {};
  std::string locale = {};  // LC_ALL, else LC_CTYPE, else LANG
};

/// A terminal redraws and has colors unless TERM is "dumb" or CI is set; NO_COLOR takes colors
/// away (no-color.org), FORCE_COLOR gives them anywhere. A locale in UTF-8 has all characters.
Terminal decide_terminal(const TerminalEnvironment& environment);

/// Columns of standard error now: the user may have changed them.
int standard_error_width();

/// What is decided for standard error of this process, with its width now.
Terminal standard_error_terminal();

/// What is decided for standard output of this process, with its width now.
Terminal standard_output_terminal();

}  // namespace trainer
