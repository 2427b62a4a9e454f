// SPDX-License-Identifier: Apache-2.0
#include "base/archive/pickle.h"

#include <algorithm>

namespace trainer::archive {
namespace {

// Returns the length of the UTF-8 character at the beginning of `text`, 0 if there is none (Unicode
// 15, table 3-7: the shortest form, no surrogates, nothing beyond U+10FFFF).
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const bool bad_second = (lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xED && byte(1) > 0x9F) ||
                          (lead == 0xF0 && byte(1) < 0x90) || (lead == 0xF4 && byte(1) > 0x8F);
  return bad_second ? 0 : length;
}

}  // namespace

std::string encode_text(std::string_view text) {
  std::string encoded;
  encoded.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length > 0) {
      encoded += text.substr(0, length);
    } else {  // U+DC00 + byte
      const auto byte = static_cast<unsigned char>(text.front());
      encoded +=
          {'\xED', static_cast<char>(0xB0 | (byte >> 6)), static_cast<char>(0x80 | (byte & 0x3F))};
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return encoded;
}

std::string decode_text(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  while (!text.empty()) {
    const bool escape = text.size() >= 3 && text[0] == '\xED' &&
                        (text[1] == '\xB2' || text[1] == '\xB3') && (text[2] & 0xC0) == 0x80;
    decoded += escape ? static_cast<char>((text[1] & 0x03) << 6 | (text[2] & 0x3F)) : text[0];
    text.remove_prefix(escape ? 3 : 1);
  }
  return decoded;
}

}  // namespace trainer::archive
