// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "launch/wait.h"

namespace trainer::launch {

/// The text of rank 0 by PMI-1 over the open file `descriptor` (PMI_FD). Once in a process.
/// Throws Error(kDevice).
std::string share_by_pmi1(const Wait& wait, int descriptor, const std::string& text);

/// The same by PMI-2; `job` is PMI_JOBID.
std::string share_by_pmi2(const Wait& wait, int descriptor, const std::string& job,
                          const std::string& text);

}  // namespace trainer::launch
