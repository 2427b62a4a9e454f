// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "trainer/config/fields.h"

#include "cli/complete.h"
#include "cli/option.h"
#include "cli/typed_line.h"

// Completion of values. `typed` is the beginning of the value that has been typed.
namespace trainer::cli {

/// Completes the value of an option or a positional argument, according to Option::value_name.
Completion option_values(const TypedLine& line, const Option& option, const std::string& typed);

/// Completes the value of a configuration key.
Completion key_values(const TypedLine& line, const config::Field& field, const std::string& typed);

/// Completes a key that the command takes, section by section: "training.", then
/// "training.epochs=". After the equals sign, completes the value.
Completion keys(const TypedLine& line, const std::string& typed);

/// Puts `before` in front of all candidates and of the paths that are candidates.
Completion behind(const std::string& before, Completion completion);

}  // namespace trainer::cli
