// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

/// Parsing of text from users and files.
namespace trainer {

/// The whole of `text` as a finite or infinite number; nothing for other text and for NaN. Decimal,
/// with an optional leading plus and exponent, without spaces, independent of the locale. Numbers
/// beyond the range of double become infinity or 0.
std::optional<double> parse_double(std::string_view text);

/// The whole of `text` as a decimal integer; nothing for other text and beyond int64.
std::optional<int64_t> parse_int(std::string_view text);

/// A duration in seconds: a number followed by s, m, h or d (days), or by nothing for seconds.
/// Returns nothing for other text.
std::optional<double> parse_duration(std::string_view text);

/// Whether the whole of `text` matches one of the patterns, in which `*` matches any text and `?`
/// one character.
bool matches_any(const std::string& text, std::span<const std::string> patterns);

/// `text` with its ASCII letters in lower case.
std::string lower_case(std::string_view text);

}  // namespace trainer
