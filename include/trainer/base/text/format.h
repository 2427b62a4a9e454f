// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

/// Numbers, names and lists as text for people.
namespace trainer {

/// The shortest decimal text that reads back as the same number: "0.001", "1e-05", "3".
std::string shortest(double value);

/// An integer with commas between the thousands: "1,797".
std::string with_thousands(int64_t value);

/// A count with its noun, in the plural unless the count is 1: "1 row", "1,797 rows".
std::string counted(int64_t count, std::string_view one);

/// A duration in a unit that suits its size: "12 ms", "3.2 s", "4 min 05 s", "2 h 03 min";
/// "unknown" if it is not finite.
std::string human_duration(double seconds);

/// A duration with three digits, to compare short ones: "12.3 us", "4.56 ms", "78.9 s".
std::string precise_duration(double seconds);

/// A number of bytes in a binary unit: "512 B", "1.5 KiB", "2.0 GiB".
std::string human_bytes(uint64_t bytes);

/// `text` in double quotes for error messages: cut after 60 characters (never inside one), with
/// quotes, backslashes, control and invisible characters and bytes that are not UTF-8 as escapes.
// Not "quoted": std::quoted of <iomanip> would win by argument-dependent lookup.
std::string in_quotes(std::string_view text);

/// Whether a cell of a CSV file has to be in quotes: where RFC 4180 says so, and where it begins or
/// ends with a blank, which many readers would remove.
bool needs_csv_quotes(std::string_view text, char delimiter = ',');

/// `text` as a cell of a CSV file, in quotes if it needs them.
std::string csv_cell(std::string_view text, char delimiter = ',');

/// The first sentence of `text` without its full stop.
std::string first_sentence(const std::string& text);

/// The items as one list in words: "a, b and c".
std::string joined(std::span<const std::string> items, std::string_view last_separator = " and ");

/// The first eight items and the number of the others: "a, b and 7 more".
std::string joined_some(std::span<const std::string> items);

}  // namespace trainer
