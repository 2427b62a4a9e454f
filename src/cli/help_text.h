// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace trainer::cli {

/// The end of --help: examples and exit codes.
std::string help_footer();
/// The end of `trainer train --help`.
std::string train_help_footer();

/// The text of --version.
std::string version_text();

}  // namespace trainer::cli
