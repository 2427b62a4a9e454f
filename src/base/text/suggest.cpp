// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/text/suggest.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <unordered_map>
#include <vector>

#include "trainer/base/text/format.h"
#include "trainer/base/text/parse.h"
#include "trainer/base/text/utf8.h"

namespace trainer {
namespace {

// Optimal string alignment: insertions, deletions, substitutions and swaps of neighbours cost 1.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before_last(b.size() + 1), last(b.size() + 1), current(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substitution = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({last[j] + 1, current[j - 1] + 1, substitution});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) current[j] = std::min(current[j], before_last[j - 2] + 1);
    }
    before_last.swap(last);
    last.swap(current);
  }
  return last[b.size()];
}

}  // namespace

std::optional<std::string> nearest_word(std::string_view word,
                                        std::span<const std::string> candidates) {
  const std::string wanted = folded(word);
  size_t limit = std::max<size_t>(1, word.size() / 3) + 1;  // exclusive
  const std::string* nearest = nullptr;
  for (const std::string& candidate : candidates) {
    const size_t length = std::max(word.size(), candidate.size());
    const size_t distance = edit_distance(wanted, folded(candidate));
    // A word with every letter replaced is another word, however short.
    if (word.empty() || distance >= limit || distance >= length) continue;
    nearest = &candidate;
    limit = distance;
  }
  return nearest == nullptr ? std::nullopt : std::optional(*nearest);
}

namespace {

/// A character as a base letter and a combining mark; `mark` 0: the character is unchanged.
struct Decomposed {
  unsigned base;
  unsigned mark;
};

// From Unicode's UnicodeData.txt: kBases has the letters from U+00C0 to U+017F without their
// accents, kAccents an index into kMarks as a letter. Characters without an accent have spaces.
Decomposed decompose_latin(unsigned character) {
  constexpr std::string_view kBases =
      "AAAAAA CEEEEIIII NOOOOO  UUUUY  aaaaaa ceeeeiiii nooooo  uuuuy y"
      "AaAaAaCcCcCcCcDd  EeEeEeEeEeGgGgGgGgHh  IiIiIiIiI   JjKk LlLlLl    NnNnNn   OoOoOo  "
      "RrRrRrSsSsSsSsTtTt  UuUuUuUuUuUuWwYyYZzZzZz ";
  constexpr std::string_view kAccents =
      "abcdef gabceabce dabcde  abceb  abcdef gabceabce dabcde  abceb e"
      "hhiijjbbcckkllll  hhiikkjjllcciikkggcc  ddhhiijjk   ccgg bbggll    bbggll   hhiimm  "
      "bbggllbbccggllggll  ddhhiiffmmjjccccebbkkll ";
  constexpr std::array<unsigned, 13> kMarks = {0x300, 0x301, 0x302, 0x303, 0x308, 0x30A, 0x327,
                                               0x304, 0x306, 0x328, 0x307, 0x30C, 0x30B};
  constexpr unsigned kFirst = 0xC0;
  const size_t i = character - kFirst;
  if (character < kFirst || i >= kBases.size() || kBases[i] == ' ') return {character, 0};
  return {static_cast<unsigned char>(kBases[i]), kMarks[static_cast<size_t>(kAccents[i] - 'a')]};
}

Decomposed decompose_cyrillic(unsigned character) {
  switch (character) {
    case 0x439:
      return {0x438, 0x306};  // short i
    case 0x451:
      return {0x435, 0x308};  // io
    case 0x457:
      return {0x456, 0x308};  // yi
    case 0x45E:
      return {0x443, 0x306};  // short u
    default:
      return {character, 0};
  }
}

// The lower case of letters of Latin-1, Greek and Cyrillic that decompose_latin() does not
// decompose.
unsigned in_small_letters(unsigned character) {
  const auto is_from = [&](unsigned first, unsigned last) {
    return first <= character && character <= last;
  };
  if (is_from(0xC0, 0xDE) && character != 0xD7) return character + 0x20;
  if (is_from(0x391, 0x3A9) || is_from(0x410, 0x42F)) return character + 0x20;  // Greek, Cyrillic
  return is_from(0x400, 0x40F) ? character + 0x50 : character;
}

void append_two_bytes(std::string& text, unsigned character) {
  text += static_cast<char>(0xC0U | (character >> 6U));
  text += static_cast<char>(0x80U | (character & 0x3FU));
}

}  // namespace

std::string folded(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const size_t length = std::max<size_t>(1, utf8_length(text));
    if (length != 2) {
      result += lower_case(text.substr(0, length));
    } else {
      const unsigned character = ((static_cast<unsigned char>(text[0]) & 0x1FU) << 6U) |
                                 (static_cast<unsigned char>(text[1]) & 0x3FU);
      const Decomposed latin = decompose_latin(character);
      const Decomposed letter =
          latin.mark != 0 ? latin : decompose_cyrillic(in_small_letters(character));
      if (letter.base < 0x80) {
        result += lower_case(std::string(1, static_cast<char>(letter.base)));
      } else {
        append_two_bytes(result, letter.base);
      }
      if (letter.mark != 0) append_two_bytes(result, letter.mark);
    }
    text.remove_prefix(length);
  }
  return result;
}

std::vector<std::string> similar_texts(std::span<const std::string> texts) {
  constexpr size_t kMaxNamed = 8;
  std::unordered_map<std::string, size_t> first;
  std::vector<bool> is_named(texts.size());
  std::vector<std::string> similar;
  for (size_t i = 0; i < texts.size() && similar.size() < kMaxNamed; ++i) {
    const auto [found, is_new] = first.emplace(folded(texts[i]), i);
    if (is_new) continue;
    if (!is_named[found->second]) similar.push_back(in_quotes(texts[found->second]));
    is_named[found->second] = true;
    similar.push_back(in_quotes(texts[i]));
  }
  return similar;
}

}  // namespace trainer
