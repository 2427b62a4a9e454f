// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "trainer/config/load.h"

#include "cli/option.h"

namespace trainer::cli {

/// The format of the table of --data: --delimiter and --decimal. Empty: not given.
struct FormatOptions {
  std::string delimiter;
  std::string decimal;
};

/// `otherwise` describes the default: "as in the run".
Option delimiter_option(FormatOptions& format, const std::string& otherwise);
Option decimal_option(FormatOptions& format, const std::string& otherwise);

/// Adds the given options as keys of the configuration, which are validated with it.
void add_overrides(const FormatOptions& format, std::vector<config::Override>& overrides);

}  // namespace trainer::cli
