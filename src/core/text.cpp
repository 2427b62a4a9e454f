// SPDX-License-Identifier: Apache-2.0
#include "trainer/core/text.h"

#include <fnmatch.h>
#include <locale.h>
#include <stdlib.h>

#include <fmt/format.h>
#if __has_include(<xlocale.h>)
#include <xlocale.h>  // macOS keeps strtod_l here
#endif

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <system_error>

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

std::string_view without_plus(std::string_view text) {
  const bool plus = text.size() > 1 && text[0] == '+' && text[1] != '+' && text[1] != '-';
  return plus ? text.substr(1) : text;
}

// The C library under the "C" locale, whatever the process has set. It alone says what a number
// beyond the range of double rounds to, and it stands in where from_chars knows no floating point.
std::optional<double> parse_by_c_library(std::string_view text) {
  static const locale_t c_locale = newlocale(LC_ALL_MASK, "C", nullptr);
  constexpr std::string_view kDecimal = "0123456789+-.eE";
  const std::string_view unsigned_text = text.substr(text.starts_with('-') ? 1 : 0);
  const bool infinity =
      lower_case(unsigned_text) == "inf" || lower_case(unsigned_text) == "infinity";
  if (!infinity && text.find_first_not_of(kDecimal) != std::string_view::npos) return std::nullopt;
  const std::string copy(text);
  char* end = nullptr;
  const double value = strtod_l(copy.c_str(), &end, c_locale);
  if (copy.empty() || end != copy.c_str() + copy.size()) return std::nullopt;
  return value;
}

struct Bytes {
  unsigned char first, last;
  bool contain(unsigned char byte) const { return first <= byte && byte <= last; }
};

std::string escaped(char c) {
  switch (c) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    default:
      return fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
}

uint32_t code_point(std::string_view character) {
  const auto first = static_cast<unsigned char>(character.front());
  uint32_t value = first & (0xFFU >> (character.size() + 1));
  for (const char c : character.substr(1)) value = value << 6U | (static_cast<uint32_t>(c) & 0x3FU);
  return value;
}

// What looks like a space or like nothing: spaces of other widths, marks of direction, byte-order
// marks, control characters.
bool is_invisible(std::string_view character) {
  const uint32_t c = code_point(character);
  return (c >= 0x80 && c <= 0xA0) || c == 0xAD || c == 0x1680 || c == 0x180E ||
         (c >= 0x2000 && c <= 0x200F) || (c >= 0x2028 && c <= 0x202F) ||
         (c >= 0x205F && c <= 0x206F) || c == 0x3000 || c == 0xFEFF;
}

std::string escaped_character(std::string_view character) {
  return fmt::format("\\u{:04x}", code_point(character));
}

bool needs_escape(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7F || c == '"' || c == '\\';
}

}  // namespace

std::optional<std::string> nearest_word(std::string_view word,
                                        std::span<const std::string> candidates) {
  const std::string wanted = lower_case(word);
  size_t limit = std::max<size_t>(1, word.size() / 3) + 1;  // exclusive
  const std::string* nearest = nullptr;
  for (const std::string& candidate : candidates) {
    const size_t length = std::max(word.size(), candidate.size());
    const size_t distance = edit_distance(wanted, lower_case(candidate));
    // A word with every letter replaced is another word, however short.
    if (word.empty() || distance >= limit || distance >= length) continue;
    nearest = &candidate;
    limit = distance;
  }
  return nearest == nullptr ? std::nullopt : std::optional(*nearest);
}

std::string shortest(double value) { return fmt::format("{}", value); }

std::string loss_text(double loss) {
  constexpr double kLong = 1e6;
  return std::abs(loss) < kLong ? fmt::format("{:.4f}", loss) : fmt::format("{:.3g}", loss);
}

std::optional<double> parse_double(std::string_view text) {
  text = without_plus(text);
  std::optional<double> value;
#if defined(__cpp_lib_to_chars)
  double parsed = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), parsed);
  if (end != text.data() + text.size() || problem == std::errc::invalid_argument) {
    return std::nullopt;
  }
  value = problem == std::errc() ? parsed : parse_by_c_library(text);
#else
  value = parse_by_c_library(text);
#endif
  return value && std::isnan(*value) ? std::nullopt : value;
}

std::optional<int64_t> parse_int(std::string_view text) {
  text = without_plus(text);
  int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string with_thousands(int64_t value) {
  std::string text = fmt::format("{}", value);
  const size_t first_digit = value < 0 ? 1 : 0;
  for (size_t place = text.size(); place > first_digit + 3;) {
    place -= 3;
    text.insert(place, 1, ',');
  }
  return text;
}

std::string counted(int64_t count, std::string_view one) {
  return fmt::format("{} {}{}", with_thousands(count), one, count == 1 ? "" : "s");
}

std::string human_duration(double seconds) {
  if (!std::isfinite(seconds) || seconds > 1e12) return "unknown";
  seconds = std::max(seconds, 0.0);
  if (seconds > 0 && seconds < 0.00095) return fmt::format("{:.0f} us", seconds * 1e6);
  if (seconds < 0.0995) return fmt::format("{:.0f} ms", seconds * 1e3);
  if (seconds < 59.95) return fmt::format("{:.1f} s", seconds);
  const int64_t whole_seconds = std::llround(seconds);
  if (whole_seconds < 3600) {
    return fmt::format("{} min {:02} s", whole_seconds / 60, whole_seconds % 60);
  }
  const int64_t minutes = std::llround(seconds / 60);
  return fmt::format("{} h {:02} min", minutes / 60, minutes % 60);
}

std::string human_bytes(uint64_t bytes) {
  constexpr std::array<const char*, 6> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  while (value >= 1023.95 && unit + 1 < kUnits.size()) {  // would be shown as 1024.0
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string in_quotes(std::string_view text) {
  constexpr int kMaxCharacters = 60;
  std::string result = "\"";
  for (int shown = 0; !text.empty(); ++shown) {
    if (shown == kMaxCharacters) {
      result += "...";
      break;
    }
    const size_t length = utf8_length(text);
    const bool plain = length > 1 || (length == 1 && !needs_escape(text.front()));
    if (length > 1 && is_invisible(text.substr(0, length))) {
      result += escaped_character(text.substr(0, length));
    } else {
      result += plain ? std::string(text.substr(0, length)) : escaped(text.front());
    }
    text.remove_prefix(std::max<size_t>(1, length));
  }
  return result + '"';
}

// Which second bytes may follow a first byte is Table 3-7 of the Unicode Standard.
size_t utf8_length(std::string_view text) {
  constexpr Bytes kContinuation = {0x80, 0xBF};
  struct Form {
    Bytes first, second;
    size_t length;
  };
  constexpr std::array<Form, 8> kForms = {{{{0xC2, 0xDF}, kContinuation, 2},
                                           {{0xE0, 0xE0}, {0xA0, 0xBF}, 3},
                                           {{0xE1, 0xEC}, kContinuation, 3},
                                           {{0xED, 0xED}, {0x80, 0x9F}, 3},
                                           {{0xEE, 0xEF}, kContinuation, 3},
                                           {{0xF0, 0xF0}, {0x90, 0xBF}, 4},
                                           {{0xF1, 0xF3}, kContinuation, 4},
                                           {{0xF4, 0xF4}, {0x80, 0x8F}, 4}}};
  const auto byte = [text](size_t i) { return static_cast<unsigned char>(text[i]); };
  if (text.empty()) return 0;
  if (byte(0) < 0x80) return 1;
  for (const Form& form : kForms) {
    if (!form.first.contain(byte(0))) continue;
    if (text.size() < form.length || !form.second.contain(byte(1))) return 0;
    for (size_t i = 2; i < form.length; ++i) {
      if (!kContinuation.contain(byte(i))) return 0;
    }
    return form.length;
  }
  return 0;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string joined(std::span<const std::string> words, std::string_view last_separator) {
  std::string result;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) result += i + 1 == words.size() ? last_separator : std::string_view(", ");
    result += words[i];
  }
  return result;
}

bool matches_any(const std::string& text, std::span<const std::string> patterns) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    return fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
  });
}

std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

}  // namespace trainer
