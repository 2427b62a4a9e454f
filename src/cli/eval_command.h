// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/arguments.h"

namespace trainer::cli {

/// Says on standard output how good a trained model is; returns the exit code.
int eval_command(const Arguments& arguments);

}  // namespace trainer::cli
