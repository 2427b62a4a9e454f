// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace trainer::cli {

/// What stands below the flags in --help: examples and exit codes.
std::string help_footer();
/// The same of `trainer train`.
std::string train_help_footer();

/// The answer to --version.
std::string version_text();

}  // namespace trainer::cli
