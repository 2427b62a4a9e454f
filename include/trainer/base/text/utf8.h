// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace trainer {

/// The length in bytes of the well-formed UTF-8 character at the beginning of `text`; 0 if there is
/// none.
std::size_t utf8_length(std::string_view text);

/// Whether every byte of `text` belongs to a UTF-8 character.
bool is_utf8(std::string_view text);

}  // namespace trainer
