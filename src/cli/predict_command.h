// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/arguments.h"

namespace trainer::cli {

/// `trainer predict RUN_OR_CHECKPOINT --data FILE --output FILE`: applies a model to each row of a
/// table. Returns the exit code: 0, or that of the signal that ended it. Throws Error.
int predict_command(const Arguments& arguments);

}  // namespace trainer::cli
