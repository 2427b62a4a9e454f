// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace trainer::cli {

/// The whole program but for the catch: parses the command line and runs the command.
void run(int argc, const char* const* argv);

}  // namespace trainer::cli
