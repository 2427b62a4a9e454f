// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

// Tables for other programs.
namespace trainer::tracking {

/// Rows of cells as CSV (RFC 4180), without blanks at the ends of cells.
std::string csv_text(const std::vector<std::vector<std::string>>& rows);

/// As a table of Markdown; the first row is its head.
std::string markdown_text(const std::vector<std::vector<std::string>>& rows);

}  // namespace trainer::tracking
