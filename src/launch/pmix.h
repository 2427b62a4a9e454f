// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "launch/wait.h"

namespace trainer::launch {

/// Returns whether libpmix is installed with all functions that are needed.
bool has_pmix();

/// Returns the text of rank 0, shared by PMIx. May be called once in a process, and only if
/// has_pmix(). Throws Error(kDevice).
std::string share_by_pmix(const Wait& wait, const std::string& text);

}  // namespace trainer::launch
