// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

namespace trainer::cli {

/// An exit code of the program and what it means.
struct ExitCode {
  int code;
  const char* name;     // short, for --help
  const char* meaning;  // a sentence without its full stop, for the manual
};

/// Returns all exit codes in ascending order.
std::span<const ExitCode> exit_codes();

/// A command line for users to begin with.
struct Example {
  const char* command;
  const char* meaning;  // a sentence without its full stop
};

/// Returns the examples of --help and of the manual page.
std::span<const Example> examples();

/// Returns the end of --help: examples and exit codes.
std::string help_footer();
/// Returns the end of `trainer train --help`: examples of training, and exit codes.
std::string train_help_footer();

/// Returns the text of --version: the versions of the program and its libraries, BLAS and compiler.
std::string version_text();

}  // namespace trainer::cli
