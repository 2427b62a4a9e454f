// SPDX-License-Identifier: Apache-2.0
#include "apply/export_c_source.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/text/format.h"
#include "trainer/base/text/parse.h"

#include "apply/export_c_functions.h"

namespace trainer::apply {
namespace {

// The bits of each weight as five digits to the base 85: half of what decimals take.
std::string packed_weights(std::span<const float> weights) {
  constexpr std::size_t kInLine = 19;
  std::string lines;
  for (std::size_t begin = 0; begin < weights.size(); begin += kInLine) {
    std::string line;
    for (std::size_t i = begin; i < std::min(begin + kInLine, weights.size()); ++i) {
      auto bits = std::bit_cast<uint32_t>(weights[i]);
      std::array<char, 5> digits{};
      for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit, bits /= 85) {
        *digit = static_cast<char>('#' + bits % 85);
      }
      line.append(digits.begin(), digits.end());
    }
    lines += c_literal(line) + ",\n";
  }
  return fmt::format("static float weights[{}];\nstatic const char packed[][{}] = {{\n{}}};\n",
                     weights.size(), 5 * kInLine + 1, lines);
}

std::string used_functions(const CSource& source) {
  constexpr std::string_view kMark = "/* section: ";
  const std::string_view all = export_c_functions();
  std::string used;
  for (std::size_t at = all.find(kMark); at != std::string_view::npos;) {
    const std::size_t end = all.find(" */\n", at);
    const std::size_t next = all.find(kMark, end);
    const std::string_view name = all.substr(at + kMark.size(), end - at - kMark.size());
    if (source.calls.contains(name)) {
      used += all.substr(end + 4, next == std::string_view::npos ? next : next - end - 4);
      if (used.back() == '\n' && !used.ends_with("\n\n")) used += '\n';
    }
    at = next;
  }
  return used;
}

}  // namespace

// Octal numbers of three digits end by themselves, unlike others.
std::string c_literal(std::string_view text) {
  std::string literal = "\"";
  for (const char c : text) {
    if (c < ' ' || c > '~') {
      literal += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
      continue;
    }
    if (c == '"' || c == '\\' || c == '?') literal += '\\';
    literal += c;
  }
  return literal + '"';
}

std::string c_comment(std::string_view text) {
  std::string comment;
  for (const char c : text) {
    const bool is_plain = static_cast<unsigned char>(c) >= ' ' && c != 127 && c != '\\' && c != '?';
    const bool joins = !comment.empty() &&
                       ((comment.back() == '*' && c == '/') || (comment.back() == '/' && c == '*'));
    if (joins) comment += ' ';
    comment += is_plain ? c : '.';
  }
  return comment;
}

std::string c_identifier(std::string_view text) {
  static const std::set<std::string> kWords = {
      "EOF",       "INFINITY", "NAN",         "NULL",     "alignas",  "alignof",  "and",
      "asm",       "auto",     "bitand",      "bitor",    "bool",     "break",    "case",
      "catch",     "char",     "class",       "compl",    "const",    "continue", "default",
      "delete",    "do",       "double",      "else",     "enum",     "errno",    "explicit",
      "export",    "extern",   "false",       "float",    "for",      "friend",   "goto",
      "i386",      "if",       "inline",      "int",      "linux",    "long",     "mutable",
      "namespace", "new",      "not",         "nullptr",  "operator", "or",       "private",
      "protected", "public",   "register",    "restrict", "return",   "short",    "signed",
      "sizeof",    "static",   "stderr",      "stdin",    "stdout",   "struct",   "switch",
      "template",  "this",     "throw",       "true",     "try",      "typedef",  "typeid",
      "typename",  "typeof",   "union",       "unix",     "unsigned", "using",    "virtual",
      "void",      "volatile", "while",       "xor",      "concept",  "requires", "constexpr",
      "decltype",  "noexcept", "thread_local"};
  std::string name;
  for (const char c : text) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  if (name.empty() || std::isalpha(static_cast<unsigned char>(name.front())) == 0)
    name = "c" + name;
  return kWords.contains(name) ? name + "_" : name;
}

std::string c_literal(float value) {
  std::string text = fmt::format("{}", value);
  if (static_cast<float>(parse_double(text).value_or(0)) != value)
    text = fmt::format("{:.9e}", value);
  if (text.starts_with("0.")) return text.substr(1);
  return text.starts_with("-0.") ? "-" + text.substr(2) : text;
}

std::string c_literal(double value) { return shortest(value); }
std::string c_literal(int64_t value) { return std::to_string(value); }

std::string CSource::add_table(const char* type, const std::vector<std::string>& literals) {
  constexpr std::size_t kLine = 98;
  std::string name = fmt::format("table{}", num_tables++);
  tables += fmt::format("static const {} {}[{}] = {{", type, name, literals.size());
  std::size_t column = kLine;
  for (const std::string& literal : literals) {
    column += literal.size() + 1;
    if (column > kLine) {
      tables += '\n';
      column = literal.size() + 1;
    }
    tables += literal + ",";
  }
  tables.back() = '}';
  tables += ";\n";
  return name;
}

std::string CSource::floats(std::span<const float> values) {
  const std::size_t begin = weights.size();
  weights.insert(weights.end(), values.begin(), values.end());
  return fmt::format("weights + {}", begin);
}

std::string definitions(const CSource& source) {
  return source.tables + packed_weights(source.weights) + "\n" + used_functions(source);
}

}  // namespace trainer::apply
