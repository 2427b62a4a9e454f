// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "trainer/config/config.h"

namespace trainer::experiments {

/// Returns how many processes may train runs of this configuration at the same time: `processes`,
/// or with auto one for each CPU. It is 1 where a process cannot have helpers (any system but
/// Linux), and with auto on a GPU or with a large data file, which each would read.
int64_t count_processes(const config::Config& config);

/// Copies of this process (fork) that work beside it. They must begin before anything that has
/// threads of its own, such as LibTorch, is loaded.
class Helpers {
 public:
  /// Starts `count` copies. Each calls `work` with its number, 1 to `count`, and ends; what it
  /// throws ends it too, without a message: its work is left to the others.
  Helpers(int64_t count, const std::function<void(int64_t number)>& work);

  /// Asks those that are still at work to stop (SIGTERM), and waits until all have ended.
  ~Helpers();
  Helpers(const Helpers&) = delete;
  Helpers& operator=(const Helpers&) = delete;

 private:
  std::vector<pid_t> processes_;
  bool has_set_threads_ = false;
};

}  // namespace trainer::experiments
