// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/text/utf8.h"

#include <array>

namespace trainer {
namespace {

struct Bytes {
  unsigned char first, last;
  bool contain(unsigned char byte) const { return first <= byte && byte <= last; }
};

}  // namespace

// Table 3-7 of the Unicode Standard says which second bytes may follow a first byte.
std::size_t utf8_length(std::string_view text) {
  constexpr Bytes kContinuation = {0x80, 0xBF};
  struct Form {
    Bytes first, second;
    std::size_t length;
  };
  constexpr std::array<Form, 8> kForms = {{{{0xC2, 0xDF}, kContinuation, 2},
                                           {{0xE0, 0xE0}, {0xA0, 0xBF}, 3},
                                           {{0xE1, 0xEC}, kContinuation, 3},
                                           {{0xED, 0xED}, {0x80, 0x9F}, 3},
                                           {{0xEE, 0xEF}, kContinuation, 3},
                                           {{0xF0, 0xF0}, {0x90, 0xBF}, 4},
                                           {{0xF1, 0xF3}, kContinuation, 4},
                                           {{0xF4, 0xF4}, {0x80, 0x8F}, 4}}};
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (text.empty()) return 0;
  if (byte(0) < 0x80) return 1;
  for (const Form& form : kForms) {
    if (!form.first.contain(byte(0))) continue;
    if (text.size() < form.length || !form.second.contain(byte(1))) return 0;
    for (std::size_t i = 2; i < form.length; ++i) {
      if (!kContinuation.contain(byte(i))) return 0;
    }
    return form.length;
  }
  return 0;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace trainer
