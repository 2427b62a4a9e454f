// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace trainer::cli {

/// A shell and the script that completes command lines in it.
struct CompletionScript {
  std::string_view name;  // "bash"
  std::string_view text;
};

/// Returns the scripts of src/cli/completion. CMake embeds them in the program
/// (completion_scripts.cpp.in).
std::span<const CompletionScript> completion_scripts();

}  // namespace trainer::cli
