// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace trainer::cli {

/// `text` in lines of at most `width` bytes, divided at spaces; a longer word is a line of its own.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

}  // namespace trainer::cli
