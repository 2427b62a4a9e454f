// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace trainer::dist {

/// Makes a text that another rank has sent safe to print: replaces control characters other than
/// line breaks, invisible characters and invalid UTF-8 by escapes.
std::string shown(std::string_view text);

/// The text of an error after a time limit, such as "no answer within 60.0 s".
std::string no_answer_within(std::chrono::milliseconds limit);

}  // namespace trainer::dist
