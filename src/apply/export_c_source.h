// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
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

/// A literal of any bytes.
std::string c_text(std::string_view text);

/// Text within a comment, which it cannot end.
std::string c_comment(std::string_view text);

/// Letters, digits and _ of a text, not beginning with a digit or _, and no word of C or C++.
std::string c_identifier(std::string_view text);

/// The shortest number that a C compiler reads as this one.
std::string c_number(float value);
std::string c_number(double value);

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

  /// Adds a table of constants and returns its name.
  std::string table(std::span<const double> values);
  std::string table(std::span<const int64_t> values);
  std::string table(std::span<const std::string> values);

  /// Adds weights and returns where they are.
  std::string floats(std::span<const float> values);
};

/// The definition of the tables, of the weights, and of the functions of export_c.c that are used.
std::string definitions(const CSource& source);

}  // namespace trainer::apply
