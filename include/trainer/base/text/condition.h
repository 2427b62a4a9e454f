// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

// Conditions that people write, such as "accuracy>0.9 and (log_loss<0.3 or not f1<0.5)".
namespace trainer {

/// A value that is compared: a number, or a text.
using Value = std::variant<double, std::string>;

/// Returns a number if the whole text is one, else the text.
Value to_value(const std::string& text);

/// Returns the text of a value; of a number, the shortest that reads back as the same.
std::string text_of(const Value& value);

/// Whether a number is less than another one, or a text before another one.
bool is_less(const Value& a, const Value& b);

/// Returns the value of a name, or nothing if it has none.
using ValueOf = std::function<std::optional<Value>(const std::string& name)>;

/// Whether a condition holds for these values. A comparison with a value that is not there is
/// false.
using Condition = std::function<bool(const ValueOf&)>;

/// What the names and values of a condition mean.
struct ConditionNames {
  std::string origin;  // the flag, for messages: "--filter"
  /// Returns the full form of a name, under which it has a value. Throws Error(kUsage) if there is
  /// no such name.
  std::function<std::string(std::string_view)> full_name;
  /// Returns what the value of such a name is compared with. Throws Error(kUsage).
  std::function<Value(const std::string& name, const std::string& text)> limit =
      [](const std::string& /*name*/, const std::string& text) { return to_value(text); };
};

/// Parses comparisons (=, ==, !=, <, <=, >, >=, and ~ for "contains"), joined by and, or, not and
/// parentheses. Numbers are compared as numbers. A value with spaces is in quotes. Throws
/// Error(kUsage) with the part that is wrong.
Condition parse_condition(std::string_view text, const ConditionNames& names);

}  // namespace trainer
