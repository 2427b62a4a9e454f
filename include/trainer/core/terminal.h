// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace trainer {

/// What may be written to standard error.
struct Terminal {
  bool redraws = false;  // one line may be drawn again and again; false: plain lines only
  bool colours = false;
  int width = 80;  // columns
};

/// The variables of the environment that decide, by name; absent ones are empty.
struct TerminalEnvironment {
  bool is_terminal = false;
  std::string term;
  std::string no_color;
  std::string force_color;
  std::string ci;
};

/// A terminal redraws and has colours unless TERM is "dumb" or CI is set; NO_COLOR takes colours
/// away (no-color.org), FORCE_COLOR gives them anywhere.
Terminal decide_terminal(const TerminalEnvironment& environment);

/// The decision for this process and its current width.
Terminal standard_error_terminal();

}  // namespace trainer
