// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/arguments.h"

namespace trainer::cli {

/// `trainer inspect RUN_OR_CHECKPOINT [--json]`: prints what a model is, what it expects of data
/// and how it was trained. Throws Error(kCheckpoint).
int inspect_command(const Arguments& arguments);

}  // namespace trainer::cli
