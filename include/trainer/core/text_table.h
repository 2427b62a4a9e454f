// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace trainer {

/// Columns of a terminal that UTF-8 text takes: two for wide characters (Chinese, Japanese, Korean,
/// emoji), none for combining marks, whatever the locale is. A byte that is no UTF-8 takes one.
std::size_t display_width(std::string_view text);

/// `text` cut to `max_width` columns; "..." in the last ones if something is missing.
std::string shortened(std::string_view text, std::size_t max_width);

/// `text` in lines of at most `width` columns, divided at spaces, but not before a percent sign; a
/// longer word is a line of its own.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

/// "run folder  runs/latest": a label and a value in two columns.
std::string labeled_line(std::string_view label, std::string_view value);

/// `text` as a cell of a table: in one line, whatever it holds, and cut to `max_width` columns.
std::string table_cell(const std::string& text, std::size_t max_width);

}  // namespace trainer
