// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

/// Parsing of text from users and files.
namespace trainer {

/// The whole of `text` as a finite or infinite number, or nothing; NaN is not a number. Decimal,
/// an exponent or a leading plus allowed, no locale, no spaces. Beyond double it is infinity or 0.
std::optional<double> parse_double(std::string_view text);

/// The whole of `text` as an integer that fits, or nothing.
std::optional<int64_t> parse_int(std::string_view text);

/// A time in seconds: a number with s, m, h or d behind it, or without one, in seconds; or nothing.
std::optional<double> parse_duration(std::string_view text);

/// Whether all of `text` matches one of the patterns: `*` matches any text, `?` one character.
bool matches_any(const std::string& text, std::span<const std::string> patterns);

/// `text` with its ASCII letters in lower case.
std::string lower_case(std::string_view text);

}  // namespace trainer
