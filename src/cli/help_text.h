// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

namespace trainer::cli {

/// A code with which the program ends.
struct ExitCode {
  int code;
  const char* name;     // short, for --help
  const char* meaning;  // a sentence without its full stop, for the manual
};

/// All of them, in their order.
std::span<const ExitCode> exit_codes();

/// A command line that users begin with.
struct Example {
  const char* command;
  const char* meaning;  // a sentence without its full stop
};

/// Examples of the commands in their order.
std::span<const Example> examples();

/// The end of --help: examples and exit codes.
std::string help_footer();
/// The end of `trainer train --help`.
std::string train_help_footer();

/// The text of --version.
std::string version_text();

}  // namespace trainer::cli
