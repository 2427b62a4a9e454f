// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "trainer/base/error.h"

#include "cli/command_line.h"
#include "cli/commands.h"
#include "support/error_of.h"

namespace trainer::cli {

/// What `trainer WORDS...` asks for.
inline CommandLine parse(std::vector<const char*> words) {
  words.insert(words.begin(), "trainer");
  return parse_command_line(command_table(), static_cast<int>(words.size()), words.data());
}

/// How the program refuses `trainer WORDS...`.
inline std::string message_of(const std::vector<const char*>& words) {
  return test::message_of(ErrorKind::kUsage, [&] { parse(words); });
}

}  // namespace trainer::cli
