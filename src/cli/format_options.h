// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "trainer/config/load.h"

#include "cli/option.h"

namespace trainer::cli {

/// The values of --delimiter and --decimal, the format of the table that --data names. Empty: not
/// given.
struct FormatOptions {
  std::string delimiter;
  std::string decimal;
};

/// Return the options --delimiter and --decimal. `otherwise` describes the default: "as in the
/// run".
Option delimiter_option(FormatOptions& format, const std::string& otherwise);
Option decimal_option(FormatOptions& format, const std::string& otherwise);

/// Adds the options that were given as overrides of data.delimiter and data.decimal, so that
/// config::load() validates them.
void add_overrides(const FormatOptions& format, std::vector<config::Override>& overrides);

}  // namespace trainer::cli
