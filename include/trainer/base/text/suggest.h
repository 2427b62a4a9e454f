// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace trainer {

/// The candidate that is nearest to `word`, or nothing if none is near: within an edit distance
/// (Damerau's: a swap of two letters counts once, capitals do not count) of at most a third of the
/// length of `word`, but at least 1.
std::optional<std::string> nearest_word(std::string_view word,
                                        std::span<const std::string> candidates);

}  // namespace trainer
