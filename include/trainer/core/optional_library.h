// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace trainer {

/// A library of others that is opened at run time, and may be missing.
struct OptionalLibrary {
  const char* variable;  // of the environment: its path
  std::string stem;      // of its file: "duckdb"
};

/// Opens the one that the variable names; without it the one in data_folder(), or that the system
/// finds. nullptr if there is none; then `problem` says what was wrong with the last one tried.
void* open_library(const OptionalLibrary& library, std::string& problem);

}  // namespace trainer
