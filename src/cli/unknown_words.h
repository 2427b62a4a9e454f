// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

/// What was meant by words of the command line that are unknown.
namespace trainer::cli {

/// The words behind `trainer` that are neither flags of `app` nor anything else.
std::vector<std::string> unknown_flags(const CLI::App& app);

/// `; use --lr VALUE`, or `; did you mean "--epochs"?`, or an empty text.
std::string suggest_flag(const CLI::App& app, const std::string& given);

/// What to say of `word`, which is neither a command nor key=value: the whole problem.
std::string unknown_word(const CLI::App& app, const std::string& word, const std::string& place);

/// Of a command that only has commands of its own and got none of them.
std::string missing_command(const CLI::App& command, const std::vector<std::string>& words);

}  // namespace trainer::cli
