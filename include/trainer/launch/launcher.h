// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "trainer/launch/place.h"

// What this process and its launcher tell each other.
namespace trainer::launch {

/// Lets SIGTERM stop this process when its launcher is killed, which would leave it behind. Linux
/// only.
void stop_with_launcher();

/// Writes why this process fails to the file that torchrun's agent shows the user
/// (TORCHELASTIC_ERROR_FILE), if it asks for that. Does not throw.
void report_failure(const Environment& environment, const std::string& message) noexcept;

}  // namespace trainer::launch
