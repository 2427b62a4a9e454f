// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace trainer::cli {

/// `text` as one word of a shell command, in single quotes if necessary.
std::string shell_word(const std::string& text);

}  // namespace trainer::cli
