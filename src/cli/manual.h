// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "cli/commands.h"

namespace trainer::cli {

/// Returns the manual page trainer(1) in roff: the commands of `table` with their options, all
/// configuration keys, exit codes, environment and files.
std::string manual_page(std::span<const CommandRow> table);

}  // namespace trainer::cli
