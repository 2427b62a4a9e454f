// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>

#include "trainer/dist/world.h"
#include "trainer/launch/place.h"

namespace trainer::dist {

/// How to find the other processes of a run, and how long to wait for them.
struct JoinOptions {
  launch::Place place;
  std::filesystem::path folder;               // that all share, for launchers without another way
  bool shares_memory = true;                  // with the processes of the same machine
  std::chrono::milliseconds timeout{};        // in a step
  std::chrono::milliseconds start_timeout{};  // at the start, and for what comes before a step
};

/// The world of this process, connected to all others by LibTorch's c10d with Gloo. Throws
/// Error(kDevice) if that fails or takes longer than the time for the start, naming the rank that
/// did not come, the address or the launcher's variable, and if this build has no Gloo.
World join(const JoinOptions& options);

}  // namespace trainer::dist
