// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trainer {

/// The candidate that is nearest to `word`, or nothing if none is near: within an edit distance
/// (Damerau's: a swap of two letters counts once, capitals do not count) of at most a third of the
/// length of `word`, but at least 1.
std::optional<std::string> nearest_word(std::string_view word,
                                        std::span<const std::string> candidates);

/// `text` in lower case, with accented letters as letter and accent, as Unicode decomposes them, so
/// that texts that look alike become equal. Covers common Latin, Greek and Cyrillic letters; other
/// bytes are unchanged.
std::string folded(std::string_view text);

/// The first few of `texts` that are equal to another one when folded, such as "No" and "no". In
/// quotes, for messages.
std::vector<std::string> similar_texts(std::span<const std::string> texts);

}  // namespace trainer
