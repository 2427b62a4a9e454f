// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace trainer::cli {

/// Runs the whole program except for error handling: parses the command line and runs the command.
/// Returns the exit code of the command, or 128 plus the number of the signal that stopped it.
/// Throws Error.
int dispatch(int argc, const char* const* argv);

}  // namespace trainer::cli
