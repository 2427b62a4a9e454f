// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "cli/commands.h"

/// What is different when a coding agent uses the program: results are Markdown, the console shows
/// warnings and errors only, and an error is a line of JSON that says what to change.
namespace trainer::cli {

/// The option that asks for this; without it, the variables of the environment decide, unless
/// standard output is a terminal.
inline constexpr const char* kAgentFlag = "--agent";

/// The variables by which coding agents say that they run a command: the proposed AGENT
/// (github.com/agentsmd/agents.md/issues/136) and AI_AGENT, and those of single agents.
std::span<const char* const> agent_variables();

/// Returns whether an agent reads what this process prints; before remember_agent(), false.
bool is_for_agent();

/// Finds out whether is_for_agent().
void remember_agent(std::span<const char* const> arguments);

/// The changes that the lines of the error `message` propose with "did you mean", as a list:
/// {"file", "line", "replace", "with"} for a word in a file, or {"replace", "with", "command"} for
/// one of the `arguments` of the program, with the list of those that are right.
nlohmann::ordered_json proposed_fixes(const std::string& message,
                                      std::span<const char* const> arguments);

/// Returns what an agent needs to know in Markdown, in fewer than 4,000 tokens: the commands of
/// `table` with their options, examples and exit codes.
std::string agent_manual(std::span<const CommandRow> table);

}  // namespace trainer::cli
