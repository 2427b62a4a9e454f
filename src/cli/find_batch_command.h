// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/arguments.h"

namespace trainer::cli {

/// `trainer find-batch`: prints a line a batch size as it is tried, then the largest that fits and
/// the fastest. Returns the exit code.
int find_batch_command(const Arguments& arguments);

}  // namespace trainer::cli
