// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace trainer {

/// The number of terminal columns that UTF-8 text takes: two for wide characters (Chinese,
/// Japanese, Korean, emoji), none for combining marks, in any locale. A byte that is not UTF-8
/// takes one.
std::size_t display_width(std::string_view text);

/// `text` cut to `max_width` columns of a terminal; if it was cut, it ends with "...".
std::string shortened(std::string_view text, std::size_t max_width);

/// `text` in lines of at most `width` columns, divided at spaces, but not before a percent sign; a
/// longer word is a line of its own.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

/// `begin` and `words` in lines that end with a line break, wrapped to `width` columns with what
/// follows the first line indented to the first word; 0: one line.
std::string hanging(std::string_view begin, std::string_view words, std::size_t width);

/// A label and a value in two columns: "run folder  runs/latest".
std::string labeled_line(std::string_view label, std::string_view value);

/// `text` as a cell of a table: always on one line, in quotes with escapes if it has control
/// characters, and cut to `max_width` columns.
std::string table_cell(const std::string& text, std::size_t max_width);

}  // namespace trainer
