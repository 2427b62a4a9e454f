// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/arguments.h"

namespace trainer::cli {

/// `trainer selftest resume`: trains once without and several times with interruptions by SIGKILL,
/// and compares what they leave. Returns 0 when all is the same to the bit, 128 + the signal when
/// it was asked to stop. Throws Error(kRuntime) that names the first difference, or what a run said
/// that failed, and the folder with the runs, which is kept then.
int selftest_resume_command(const Arguments& arguments);

}  // namespace trainer::cli
