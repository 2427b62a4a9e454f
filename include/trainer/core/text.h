// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trainer {

/// The candidate that a user most likely meant by `word`, or nothing when none is near. Near is
/// an edit distance (Damerau's, letters swapped count once, capitals do not count) of at most a
/// third of the length of `word`, but at least 1.
std::optional<std::string> nearest_word(std::string_view word,
                                        std::span<const std::string> candidates);

/// The shortest decimal text that reads back as the same number: "0.001", "1e-05", "3".
std::string shortest(double value);

/// A loss as people compare it: "0.0492", and "3.28e+34" where that would be very long.
std::string loss_text(double loss);

/// The whole of `text` as a finite or infinite number, or nothing; NaN is not a number. Decimal,
/// an exponent or a leading plus allowed, no locale, no spaces. Beyond double it is infinity or 0.
std::optional<double> parse_double(std::string_view text);
/// The whole of `text` as a whole number that fits, or nothing.
std::optional<int64_t> parse_int(std::string_view text);

/// "1,797".
std::string with_thousands(int64_t value);

/// "1 row", "1,797 rows".
std::string counted(int64_t count, std::string_view one);

/// "12 ms", "3.2 s", "4 min 05 s", "2 h 03 min"; "unknown" for what is not finite.
std::string human_duration(double seconds);

/// "512 B", "1.5 KiB", "2.0 GiB".
std::string human_bytes(uint64_t bytes);

/// `text` in double quotes as error messages show it: cut after 60 characters (never inside one),
/// quotes, backslashes, control characters and bytes that are no UTF-8 as escapes.
// Not "quoted": std::quoted of <iomanip> would win by argument-dependent lookup.
std::string in_quotes(std::string_view text);

/// "a, b and c".
std::string joined(std::span<const std::string> words, std::string_view last_separator = " and ");

/// Whether the whole of `text` fits one of the patterns: `*` stands for any text, `?` for one
/// character.
bool matches_any(const std::string& text, std::span<const std::string> patterns);

/// The length of the well-formed UTF-8 character that `text` begins with, 0 where there is none.
std::size_t utf8_length(std::string_view text);

/// Whether every byte of `text` belongs to a UTF-8 character.
bool is_utf8(std::string_view text);

/// ASCII letters only.
std::string lower_case(std::string_view text);

}  // namespace trainer
