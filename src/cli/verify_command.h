// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/arguments.h"

namespace trainer::cli {

/// `trainer verify PATH...`: reads checkpoints with every check and prints what they are, one file
/// in full, several as a table. Returns the exit code: that of kCheckpoint when one of several is
/// damaged. Throws Error(kCheckpoint) when the only one is.
int verify_command(const Arguments& arguments);

}  // namespace trainer::cli
