// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/arguments.h"

namespace trainer::cli {

/// `trainer train`: trains and prints the results on standard output. Returns the exit code.
int train_command(const Arguments& arguments);

}  // namespace trainer::cli
