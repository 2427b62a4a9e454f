// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "launch/wait.h"

namespace trainer::launch {

/// Returns the text of rank 0, shared by PMI-1 over the open file `descriptor` (PMI_FD). May be
/// called once in a process. Throws Error(kDevice).
std::string share_by_pmi1(const Wait& wait, int descriptor, const std::string& text);

/// Like share_by_pmi1(), but with PMI-2. `job` is PMI_JOBID.
std::string share_by_pmi2(const Wait& wait, int descriptor, const std::string& job,
                          const std::string& text);

/// Returns whether libpmix is installed with all functions that are needed.
bool has_pmix();

/// Returns the text of rank 0, shared by PMIx. May be called once in a process, and only if
/// has_pmix(). Throws Error(kDevice).
std::string share_by_pmix(const Wait& wait, const std::string& text);

}  // namespace trainer::launch
