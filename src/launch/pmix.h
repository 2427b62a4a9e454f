// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "launch/wait.h"

namespace trainer::launch {

/// Whether the library is installed.
bool has_pmix();

/// The text of rank 0 by PMIx. Once in a process, which has_pmix. Throws Error(kDevice).
std::string share_by_pmix(const Wait& wait, const std::string& text);

}  // namespace trainer::launch
