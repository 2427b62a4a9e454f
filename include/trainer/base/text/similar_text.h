// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trainer {

/// `text` in lower case, with accented letters as letter and accent, as Unicode decomposes them, so
/// that texts that look alike become equal. Covers common Latin, Greek and Cyrillic letters; other
/// bytes are unchanged.
std::string folded(std::string_view text);

/// The first few of `texts` that are equal to another one when folded, such as "No" and "no". In
/// quotes, for messages.
std::vector<std::string> similar_texts(std::span<const std::string> texts);

}  // namespace trainer
