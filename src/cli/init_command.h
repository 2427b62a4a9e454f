// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/arguments.h"

namespace trainer::cli {

/// `trainer init`: writes a first configuration for a table. Returns the exit code. Throws
/// Error(kUsage) when the output exists already, and without a target, after the columns were
/// listed; Error(kData) when the table cannot be read or not be learnt from; Error(kFileSystem)
/// when the output cannot be written.
int init_command(const Arguments& arguments);

}  // namespace trainer::cli
