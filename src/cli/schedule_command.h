// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/arguments.h"

namespace trainer::cli {

/// `trainer config schedule`: reads the data and prints how many steps a run will make and with
/// what learning rates, as text or as JSON. Returns the exit code. Throws what config::load and
/// data::load_datasets throw.
int schedule_command(const Arguments& arguments);

}  // namespace trainer::cli
