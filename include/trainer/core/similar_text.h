// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trainer {

/// `text` in small letters, and each letter with an accent as the letter and the accent, as Unicode
/// decomposes it. Of Latin and Cyrillic letters; other bytes stay.
std::string folded(std::string_view text);

/// The first of those that are alike when they are folded, "No" and "no": a few, in quotes.
std::vector<std::string> similar_texts(std::span<const std::string> texts);

}  // namespace trainer
