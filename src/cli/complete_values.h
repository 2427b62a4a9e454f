// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "trainer/config/fields.h"

#include "cli/complete.h"
#include "cli/option.h"
#include "cli/typed_line.h"

// What a value can be that is `typed` so far.
namespace trainer::cli {

/// The value of an option or of a positional argument.
Completion option_values(const TypedLine& line, const Option& option, const std::string& typed);

/// The value of a key of the configuration.
Completion key_values(const TypedLine& line, const config::Field& field, const std::string& typed);

/// A key that the command takes, section by section: "training.", then "training.epochs="; behind
/// the sign its values.
Completion keys(const TypedLine& line, const std::string& typed);

/// Puts `before` before all candidates.
Completion behind(const std::string& before, Completion completion);

}  // namespace trainer::cli
