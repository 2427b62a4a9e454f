// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace trainer::dist {

/// A text that another rank has sent, as people can be shown it: control characters but line
/// breaks, and what is invisible or no UTF-8, as escapes.
std::string shown(std::string_view text);

/// "no answer within 60.0 s"
std::string no_answer_within(std::chrono::milliseconds limit);

}  // namespace trainer::dist
