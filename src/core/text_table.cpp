// SPDX-License-Identifier: Apache-2.0
#include "trainer/core/text_table.h"

#include <algorithm>

namespace trainer {
namespace {

// A byte that begins a character, and not one that continues it.
bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }

}  // namespace

std::size_t num_characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

std::string shortened(std::string_view text, std::size_t most) {
  if (num_characters(text) <= most) return std::string(text);
  std::size_t characters = 0;
  std::size_t end = 0;
  while (characters < most || !begins_character(text[end])) {
    if (begins_character(text[end])) ++characters;
    if (characters == most) break;
    ++end;
  }
  return std::string(text.substr(0, end)) + "~";
}

std::string text_table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const std::vector<std::string>& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], num_characters(row[i]));
    }
  }
  std::string text;
  for (const std::vector<std::string>& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - num_characters(row[i]), ' ');
      const bool is_last = i + 1 == row.size();
      if (i == 0) {
        text += row[i] + (is_last ? "" : padding);
      } else {
        text += "  " + padding + row[i];
      }
    }
    text += '\n';
  }
  return text;
}

}  // namespace trainer
