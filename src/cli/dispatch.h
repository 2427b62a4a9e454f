// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace trainer::cli {

/// The whole program except for error handling: parses the command line and runs the command.
/// Returns the exit code: that of the command, or 128 plus the signal that stopped it. Throws
/// Error.
int dispatch(int argc, const char* const* argv);

}  // namespace trainer::cli
