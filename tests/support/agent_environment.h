// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdlib>

namespace trainer::test {

/// The variables by which the program knows that a coding agent runs it (cli/agent.h).
inline constexpr std::array kAgentVariables = {"AGENT",         "AI_AGENT",      "CLAUDECODE",
                                               "CODEX_SANDBOX", "CURSOR_AGENT",  "GEMINI_CLI",
                                               "CLINE_ACTIVE",  "AUGMENT_AGENT", "OPENCODE_CLIENT"};

/// Removes them, so that tests expect the same whoever runs them.
inline void leave_agent() {
  for (const char* variable : kAgentVariables) unsetenv(variable);
}

}  // namespace trainer::test
