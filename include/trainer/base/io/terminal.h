// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace trainer {

/// What the terminal at standard error or standard output supports.
struct Terminal {
  bool redraws = false;  // a line may be overwritten; false: plain lines only
  bool colors = false;
  int width = 80;        // columns
  bool unicode = false;  // characters beyond ASCII
};

/// The environment variables that matter; unset ones are empty.
struct TerminalEnvironment {
  bool is_terminal = false;
  std::string term = {};
  std::string no_color = {};
  std::string force_color = {};
  std::string ci = {};
  std::string locale = {};  // LC_ALL, else LC_CTYPE, else LANG
};

/// A terminal redraws and has colors unless TERM is "dumb" or CI is set. NO_COLOR disables colors
/// (no-color.org), FORCE_COLOR enables them anywhere. A UTF-8 locale supports all characters.
Terminal decide_terminal(const TerminalEnvironment& environment);

/// The current width of standard error in columns, as users may resize the terminal; 80 if it is
/// unknown.
int standard_error_width();

/// decide_terminal() for standard error of this process, with its current width.
Terminal standard_error_terminal();

/// decide_terminal() for standard output of this process, with its current width.
Terminal standard_output_terminal();

/// Whether output may appear on a terminal, in the middle of a status line: standard output is a
/// terminal, or a pipe whose reader may write to one.
bool output_may_reach_terminal();

/// Opens /dev/null in place of standard input, output or error if they are closed. Call it before
/// any file is opened: otherwise the file would get their descriptor and receive the output.
void open_standard_streams();

}  // namespace trainer
