// SPDX-License-Identifier: Apache-2.0
#include "tracking/table_text.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "trainer/core/format.h"

namespace trainer::tracking {
namespace {

std::string trimmed(std::string text) {
  text.erase(0, text.find_first_not_of(' '));
  text.resize(text.find_last_not_of(' ') + 1);
  return text;
}

std::string markdown_cell(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) {
    text.insert(at, 1, '\\');
  }
  return text;
}

}  // namespace

std::string csv_text(const std::vector<std::vector<std::string>>& rows) {
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      text += fmt::format("{}{}", i == 0 ? "" : ",", csv_cell(trimmed(row[i])));
    }
    text += "\n";
  }
  return text;
}

std::string markdown_text(const std::vector<std::vector<std::string>>& rows) {
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const std::string& cell : rows[i])
      text += fmt::format("| {} ", markdown_cell(trimmed(cell)));
    text += "|\n";
    if (i > 0) continue;
    for (std::size_t j = 0; j < rows[i].size(); ++j) text += j == 0 ? "|---" : "|---:";
    text += "|\n";
  }
  return text;
}

}  // namespace trainer::tracking
