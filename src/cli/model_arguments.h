// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/arguments.h"

/// What predict, eval, inspect and export have on the command line beside keys.
namespace trainer::cli {

/// The words of the command line.
struct ModelWords {
  std::string model;
  std::string on_error;  // of predict
  ExportWords exported;
};

/// Takes `words` over into `arguments`, of a command that applies a model; `resume` is what
/// --resume has. Adds what is wrong to `problems`.
void understand_model(const ModelWords& words, const std::string& resume, Arguments& arguments,
                      std::vector<std::string>& problems);

}  // namespace trainer::cli
