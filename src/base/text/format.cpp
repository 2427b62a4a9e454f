// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/text/format.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/text/utf8.h"

namespace trainer {
namespace {

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

// Characters that look like a space or are invisible: spaces of other widths, direction marks,
// byte-order marks, control characters.
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

std::string shortest(double value) { return fmt::format("{}", value); }

std::string with_thousands(int64_t value) {
  std::string text = fmt::format("{}", value);
  const size_t first_digit = value < 0 ? 1 : 0;
  for (size_t position = text.size(); position > first_digit + 3;) {
    position -= 3;
    text.insert(position, 1, ',');
  }
  return text;
}

std::string counted(int64_t count, std::string_view one) {
  const char* ending = one.ends_with("s") ? "es" : "s";
  return fmt::format("{} {}{}", with_thousands(count), one, count == 1 ? "" : ending);
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

std::string precise_duration(double seconds) {
  const auto text = [](double value, const char* unit) {
    const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    return fmt::format("{:.{}f} {}", value, decimals, unit);
  };
  if (seconds < 0.9995e-3) return text(1e6 * seconds, "us");
  if (seconds < 0.9995) return text(1e3 * seconds, "ms");
  return text(seconds, "s");
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

bool needs_csv_quotes(std::string_view text, char delimiter) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  if (text.empty()) return false;
  if (is_blank(text.front()) || is_blank(text.back())) return true;
  return std::any_of(text.begin(), text.end(),
                     [&](char c) { return c == delimiter || c == '"' || c == '\n' || c == '\r'; });
}

std::string csv_cell(std::string_view text, char delimiter) {
  if (!needs_csv_quotes(text, delimiter)) return std::string(text);
  std::string cell = "\"";
  for (const char c : text) {
    if (c == '"') cell += '"';
    cell += c;
  }
  return cell + '"';
}

std::string first_sentence(const std::string& text) {
  return text.substr(0, std::min(text.find(". "), text.find_last_not_of('.') + 1));
}

std::string joined(std::span<const std::string> items, std::string_view last_separator) {
  std::string result;
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) result += i + 1 == items.size() ? last_separator : std::string_view(", ");
    result += items[i];
  }
  return result;
}

std::string joined_some(std::span<const std::string> items) {
  constexpr std::size_t kMaxNamed = 8;
  std::vector<std::string> some(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                                   items.size(), kMaxNamed)));
  if (items.size() > kMaxNamed) some.push_back(fmt::format("{} more", items.size() - kMaxNamed));
  return joined(some);
}

}  // namespace trainer
