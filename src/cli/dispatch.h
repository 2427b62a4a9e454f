// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace trainer::cli {

/// The whole program but for the catch: reads the command line and runs the command. Returns the
/// exit code: 0, that of a command, or 128 and the signal that ended it. Throws Error.
int dispatch(int argc, const char* const* argv);

}  // namespace trainer::cli
