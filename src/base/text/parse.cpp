// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/text/parse.h"

#include <fnmatch.h>
#include <locale.h>
#include <stdlib.h>
#if __has_include(<xlocale.h>)
#include <xlocale.h>  // strtod_l on macOS
#endif

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <system_error>
#include <utility>

namespace trainer {
namespace {

std::string_view without_plus(std::string_view text) {
  const bool plus = text.size() > 1 && text[0] == '+' && text[1] != '+' && text[1] != '-';
  return plus ? text.substr(1) : text;
}

// strtod() in the "C" locale. It turns numbers beyond the range of double into infinity or 0, and
// replaces std::from_chars() in standard libraries that lack it for floating point.
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

}  // namespace

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

std::optional<double> parse_duration(std::string_view text) {
  constexpr std::array<std::pair<char, double>, 4> kUnits = {
      {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}}};
  double unit = 1;
  for (const auto& [letter, seconds] : kUnits) {
    if (!text.ends_with(letter)) continue;
    unit = seconds;
    text.remove_suffix(1);
    break;
  }
  const std::optional<double> number = parse_double(text);
  if (!number) return std::nullopt;
  return unit * *number;
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
