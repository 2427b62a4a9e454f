// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/text/print_safely.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>

#include <fmt/format.h>

#include "trainer/base/text/utf8.h"

namespace trainer {
namespace {

bool is_plain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte >= 0x20 && byte < 0x7F) || c == '\n' || c == '\t';
}

uint32_t code_point_of(std::string_view character) {
  constexpr std::array<uint32_t, 5> kBitsOfFirst = {0, 0x7F, 0x1F, 0x0F, 0x07};
  uint32_t code = static_cast<unsigned char>(character[0]) & kBitsOfFirst[character.size()];
  for (const char c : character.substr(1)) code = code << 6U | (static_cast<uint32_t>(c) & 0x3FU);
  return code;
}

// Control characters of ASCII and Latin-1 (U+0080 to U+009F), and the characters with the Unicode
// property Bidi_Control, which change the writing direction.
bool is_control(std::string_view character) {
  constexpr std::array<uint32_t, 12> kDirections = {0x061C, 0x200E, 0x200F, 0x202A, 0x202B, 0x202C,
                                                    0x202D, 0x202E, 0x2066, 0x2067, 0x2068, 0x2069};
  if (character.size() == 1) return !is_plain(character.front());
  if (character[0] == '\xC2') return static_cast<unsigned char>(character[1]) < 0xA0;
  return std::find(kDirections.begin(), kDirections.end(), code_point_of(character)) !=
         kDirections.end();
}

}  // namespace

std::string safe_for_terminal(std::string_view text) {
  if (std::all_of(text.begin(), text.end(), is_plain)) return std::string(text);
  std::string result;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(1, length));
    const auto first = static_cast<unsigned char>(character[0]);
    // A byte below 0xA0 that is not UTF-8 is a control character in other encodings.
    if (length == 0 ? first < 0xA0 : character.size() == 1 && first < 0x20 && !is_plain(text[0])) {
      result += fmt::format("\\x{:02x}", first);
    } else if (length > 0 && is_control(character)) {
      result += fmt::format("\\u{:04x}", code_point_of(character));
    } else {
      result += character;
    }
    text.remove_prefix(character.size());
  }
  return result;
}

void print_safely(std::string_view text) { fmt::print("{}", safe_for_terminal(text)); }

void print_data(std::string_view text) {
  if (isatty(STDOUT_FILENO) == 1) return print_safely(text);
  fmt::print("{}", text);
}

}  // namespace trainer
