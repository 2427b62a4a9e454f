// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace trainer::cli {

/// `text` as one word that can be typed into a shell: in single quotes where it has to be.
std::string shell_word(const std::string& text);

}  // namespace trainer::cli
