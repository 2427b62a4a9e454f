// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/text/condition.h"

#include <array>
#include <cctype>
#include <cstddef>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/parse.h"

namespace trainer {
namespace {

// Removes spaces, so that lists are equal whether or not spaces follow their commas.
std::string without_spaces(std::string text) {
  std::erase(text, ' ');
  return text;
}

enum class Comparison { kEqual, kNotEqual, kLess, kAtMost, kGreater, kAtLeast, kContains };

struct Operator {
  std::string_view text;
  Comparison comparison;
};

// An operator comes before those that it begins with: "<=" before "<".
constexpr std::array kOperators = {
    Operator{"!=", Comparison::kNotEqual}, Operator{"<=", Comparison::kAtMost},
    Operator{">=", Comparison::kAtLeast},  Operator{"==", Comparison::kEqual},
    Operator{"=", Comparison::kEqual},     Operator{"<", Comparison::kLess},
    Operator{">", Comparison::kGreater},   Operator{"~", Comparison::kContains}};

bool holds(const Value& value, Comparison comparison, const Value& limit) {
  const bool is_equal =
      value == limit || without_spaces(text_of(value)) == without_spaces(text_of(limit));
  switch (comparison) {
    case Comparison::kEqual:
      return is_equal;
    case Comparison::kNotEqual:
      return !is_equal;
    case Comparison::kLess:
      return is_less(value, limit);
    case Comparison::kAtMost:
      return is_equal || is_less(value, limit);
    case Comparison::kGreater:
      return !is_equal && is_less(limit, value);
    case Comparison::kAtLeast:
      return is_equal || is_less(limit, value);
    case Comparison::kContains:
      return lower_case(text_of(value)).find(lower_case(text_of(limit))) != std::string::npos;
  }
  return false;
}

/// Parses a condition by recursive descent.
class Parser {
 public:
  Parser(std::string_view text, const ConditionNames& names) : text_(text), names_(names) {}

  Condition parse() {
    Condition condition = parse_any();
    skip_spaces();
    if (at_ < text_.size()) fail_here("\"and\" or \"or\"");
    return condition;
  }

 private:
  Condition parse_any() {
    Condition left = parse_all();
    while (take_word("or")) {
      left = [left, right = parse_all()](const ValueOf& of) { return left(of) || right(of); };
    }
    return left;
  }

  Condition parse_all() {
    Condition left = parse_one();
    while (take_word("and")) {
      left = [left, right = parse_one()](const ValueOf& of) { return left(of) && right(of); };
    }
    return left;
  }

  Condition parse_one() {
    if (take_word("not")) {
      return [inner = parse_one()](const ValueOf& of) { return !inner(of); };
    }
    if (!take("(")) return parse_comparison();
    Condition inner = parse_any();
    if (!take(")")) fail_here("a closing parenthesis");
    return inner;
  }

  Condition parse_comparison() {
    skip_spaces();
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_name_character(text_[at_])) ++at_;
    if (at_ == begin) fail_here("a name");
    const std::string name = names_.full_name(text_.substr(begin, at_ - begin));
    const Comparison comparison = parse_operator();
    return [name, comparison, limit = names_.limit(name, parse_text())](const ValueOf& of) {
      const std::optional<Value> value = of(name);
      return value && holds(*value, comparison, limit);
    };
  }

  Comparison parse_operator() {
    for (const Operator& known : kOperators) {
      if (take(known.text)) return known.comparison;
    }
    fail_here("one of = != < <= > >= ~");
  }

  // Reads a value: in quotes, or up to a space or a closing parenthesis without an opening one.
  std::string parse_text() {
    skip_spaces();
    if (at_ == text_.size()) fail_here("a value");
    const char quote = text_[at_];
    if (quote == '"' || quote == '\'') {
      const std::size_t end = text_.find(quote, at_ + 1);
      if (end == std::string_view::npos) fail_here("a value with a closing quote");
      const std::string_view text = text_.substr(at_ + 1, end - at_ - 1);
      at_ = end + 1;
      return std::string(text);
    }
    const std::size_t begin = at_;
    int depth = 0;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (depth == 0 && (c == ' ' || c == ')')) break;
      depth += c == '(' || c == '[' ? 1 : 0;
      depth -= c == ')' || c == ']' ? 1 : 0;
    }
    return std::string(text_.substr(begin, at_ - begin));
  }

  static bool is_name_character(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-';
  }

  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  bool take(std::string_view word) {
    skip_spaces();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  bool take_word(std::string_view word) {
    skip_spaces();
    const std::string_view rest = text_.substr(at_);
    if (!rest.starts_with(word)) return false;
    if (rest.size() > word.size() && rest[word.size()] != ' ' && rest[word.size()] != '(') {
      return false;
    }
    at_ += word.size();
    return true;
  }

  [[noreturn]] void fail_here(const std::string& expected) const {
    const std::string_view rest = text_.substr(at_);
    throw Error(ErrorKind::kUsage,
                fmt::format("{} {}: expected {} {}", names_.origin, in_quotes(text_), expected,
                            rest.empty() ? "at the end" : "before " + in_quotes(rest)));
  }

  std::string_view text_;
  const ConditionNames& names_;
  std::size_t at_ = 0;
};

}  // namespace

Value to_value(const std::string& text) {
  if (const auto number = parse_double(text)) return *number;
  return text;
}

std::string text_of(const Value& value) {
  const auto* number = std::get_if<double>(&value);
  return number != nullptr ? shortest(*number) : std::get<std::string>(value);
}

bool is_less(const Value& a, const Value& b) {
  if (a.index() == b.index()) return a < b;
  return text_of(a) < text_of(b);
}

Condition parse_condition(std::string_view text, const ConditionNames& names) {
  return Parser(text, names).parse();
}

}  // namespace trainer
