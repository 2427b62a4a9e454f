// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace trainer::data {

/// How to write a number that `field` writes with another decimal mark than `decimal` or with marks
/// between thousands ("1,234", "3,14" or "1.234,5" where it is a point), or an empty text.
std::string rewritten_number(std::string_view field, char decimal);

}  // namespace trainer::data
