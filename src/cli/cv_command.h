// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/arguments.h"

namespace trainer::cli {

/// `trainer cv`: trains one run for each fold, each in a folder of its own within one for all, and
/// prints a table of what they achieved; cv.json has the same. With --resume, only what is missing
/// is trained. Returns the exit code.
int cv_command(const Arguments& arguments);

}  // namespace trainer::cli
