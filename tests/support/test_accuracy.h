// SPDX-License-Identifier: Apache-2.0
// Apart from trainer_program.h, because most tests need no regular expression, and it takes seconds
// to compile.
#pragma once

#include <regex>
#include <string>

namespace trainer::test {

/// The percentage of the accuracy in the results, that before the one of the baseline; -1 where
/// there is none.
inline double test_accuracy(const std::string& out) {
  std::smatch match;
  const bool found =
      std::regex_search(out, match, std::regex(R"(\naccuracy [^\n]*? ([0-9.]+) % +[0-9.]+ %\n)"));
  return found ? std::stod(match[1]) : -1;
}

}  // namespace trainer::test
