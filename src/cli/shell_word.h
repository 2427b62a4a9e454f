// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace trainer::cli {

/// Returns `text` quoted as one word of a shell command, in single quotes only if necessary.
std::string shell_word(const std::string& text);

}  // namespace trainer::cli
