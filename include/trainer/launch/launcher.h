// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "trainer/launch/place.h"

// Messages between this process and its launcher.
namespace trainer::launch {

/// Makes the kernel send SIGTERM to this process when its launcher is killed, as the process would
/// be left behind otherwise. Has an effect on Linux only.
void stop_with_launcher();

/// Writes why this process failed to the file that torchrun's agent shows to the user, if
/// TORCHELASTIC_ERROR_FILE names one. Does not throw.
void report_failure(const Environment& environment, const std::string& message) noexcept;

}  // namespace trainer::launch
