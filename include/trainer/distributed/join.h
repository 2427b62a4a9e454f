// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>

#include "trainer/distributed/world.h"
#include "trainer/launch/place.h"

namespace trainer::dist {

/// The settings for finding the other processes of a run, and the time limits for waiting for them.
struct JoinOptions {
  launch::Place place;
  /// A folder that all processes share, for launchers that offer no other way to meet.
  std::filesystem::path folder;
  /// Whether to use shared memory between processes of the same machine.
  bool shares_memory = true;
  std::chrono::milliseconds timeout{};  // time limit for an answer in a step
  /// Time limit for the start, and for all that comes before the first step.
  std::chrono::milliseconds start_timeout{};
};

/// Connects this process to all others with Gloo, by LibTorch's c10d, and returns its world. Throws
/// Error(kDevice) if that fails or takes longer than `start_timeout`, with a message that names the
/// missing rank, the address or the variable of the launcher; also if this build has no Gloo.
World join(const JoinOptions& options);

}  // namespace trainer::dist
