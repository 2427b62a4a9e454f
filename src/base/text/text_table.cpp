// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/text/text_table.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>

#include <fmt/format.h>

#include "trainer/base/text/format.h"
#include "trainer/base/text/utf8.h"

#include "base/text/character_widths.h"

namespace trainer {
namespace {

bool contains(std::span<const CharacterRange> ranges, uint32_t code) {
  const auto above = std::upper_bound(
      ranges.begin(), ranges.end(), code,
      [](uint32_t wanted, const CharacterRange& range) { return wanted < range.first; });
  return above != ranges.begin() && code <= std::prev(above)->last;
}

std::size_t character_width(uint32_t code) {
  if (code < 0x300) return 1;
  if (contains(kJoinedCharacters, code)) return 0;
  return contains(kWideCharacters, code) ? 2 : 1;
}

struct Character {
  std::size_t num_bytes = 1;
  std::size_t width = 1;
};

// The size of the first character of a `text` that is not empty. A byte that is not UTF-8 counts as
// a character of one column.
Character first_character(std::string_view text) {
  const std::size_t length = utf8_length(text);
  if (length < 2) return {};
  uint32_t code = static_cast<unsigned char>(text[0]) & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    code = code << 6U | (static_cast<unsigned char>(text[i]) & 0x3FU);
  }
  return {length, character_width(code)};
}

// The end of the first word, which includes a percent sign behind a space: "12 %".
std::size_t word_end(std::string_view text) {
  std::size_t end = text.find(' ');
  if (end != std::string_view::npos && text.substr(end).starts_with(" %")) {
    end = text.find(' ', end + 1);
  }
  return std::min(end, text.size());
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const Character next = first_character(text);
    width += next.width;
    text.remove_prefix(next.num_bytes);
  }
  return width;
}

std::string shortened(std::string_view text, std::size_t max_width) {
  if (display_width(text) <= max_width) return std::string(text);
  const std::string dots(std::min<std::size_t>(max_width, 3), '.');
  std::size_t width = 0;
  std::size_t end = 0;
  for (;;) {
    const Character next = first_character(text.substr(end));
    if (width + next.width + dots.size() > max_width) break;
    width += next.width;
    end += next.num_bytes;
  }
  return std::string(text.substr(0, end)) + dots;
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines = {""};
  std::size_t used = 0;
  for (bool is_first = true; !text.empty() || is_first; is_first = false) {
    const std::size_t end = word_end(text);
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t word_width = display_width(word);
    if (!is_first && used + 1 + word_width > width) {
      lines.emplace_back(word);
      used = word_width;
      continue;
    }
    lines.back() += (is_first ? "" : " ") + std::string(word);
    used += word_width + (is_first ? 0 : 1);
  }
  return lines;
}

std::string hanging(std::string_view begin, std::string_view words, std::size_t width) {
  const std::size_t indent = display_width(begin);
  const std::size_t room = width > indent ? width - indent : words.size() + 1;
  std::string left(begin);
  std::string text;
  for (const std::string& line : wrapped(words, room)) {
    text += left + line;
    text.resize(text.find_last_not_of(' ') + 1);
    text += '\n';
    left.assign(indent, ' ');
  }
  return text;
}

std::string labeled_line(std::string_view label, std::string_view value) {
  return fmt::format("{:<10}  {}", label, value);
}

std::string table_cell(const std::string& text, std::size_t max_width) {
  const bool is_plain = std::none_of(text.begin(), text.end(),
                                     [](char c) { return static_cast<unsigned char>(c) < 0x20; });
  return shortened(is_plain ? text : in_quotes(text), max_width);
}

}  // namespace trainer
