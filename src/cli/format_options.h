// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "trainer/config/load.h"

#include "cli/option.h"

namespace trainer::cli {

/// How the table of --data is written: --delimiter and --decimal. Empty: not given.
struct FormatOptions {
  std::string delimiter;
  std::string decimal;
};

/// `otherwise` is where it comes from if it is not given: "as in the run".
Option delimiter_option(FormatOptions& format, const std::string& otherwise);
Option decimal_option(FormatOptions& format, const std::string& otherwise);

/// Adds what was given as keys of the configuration, which are checked with it.
void add_overrides(const FormatOptions& format, std::vector<config::Override>& overrides);

}  // namespace trainer::cli
