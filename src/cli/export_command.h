// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/arguments.h"

namespace trainer::cli {

/// Writes a trained model in another format and says what it takes, gives and how it was checked.
int export_command(const Arguments& arguments);

}  // namespace trainer::cli
