// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace trainer::apply {

/// What a C99 compiler reads as this value: the shortest number, or a text of any bytes.
std::string c_literal(float value);
std::string c_literal(double value);
std::string c_literal(int64_t value);
std::string c_literal(std::string_view text);

/// Text within a comment, which it cannot end.
std::string c_comment(std::string_view text);

/// Letters, digits and _ of a text, not beginning with a digit or _, and no word of C or C++.
std::string c_identifier(std::string_view text);

/// The parts of a C file, to which functions are added line by line.
struct CSource {
  std::set<std::string, std::less<>> calls;  // sections of export_c.c
  std::string tables;
  int num_tables = 0;
  std::vector<float> weights;  // of all calls, in the order of their table
  std::string code;            // whole functions
  std::string body;            // of the function that is written

  template <class... Arguments>
  void line(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    body += "  " + fmt::format(text, std::forward<Arguments>(arguments)...) + "\n";
  }

  /// Returns the name of a section of export_c.c, which the file is to contain.
  const char* use(const char* section) {
    calls.insert(section);
    return section;
  }

  /// Adds a table of constants of a type of C and returns its name.
  template <class Values>
  std::string table(const char* type, const Values& values) {
    std::vector<std::string> literals;
    for (const auto& value : values) literals.push_back(c_literal(value));
    return add_table(type, literals);
  }
  std::string add_table(const char* type, const std::vector<std::string>& literals);

  /// Adds weights and returns where they are.
  std::string floats(std::span<const float> values);
};

/// The definition of the tables, of the weights, and of the functions of export_c.c that are used.
std::string definitions(const CSource& source);

}  // namespace trainer::apply
