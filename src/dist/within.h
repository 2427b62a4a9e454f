// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <utility>

#include "trainer/core/error.h"

namespace trainer::dist {

/// Runs what waits without a limit of its own. Throws Error(kDevice), with `problem`, after the
/// time; then it is left behind, so it uses nothing that may be gone. The process ends anyway.
template <class Run>
auto within(std::chrono::milliseconds limit, const std::string& problem, const Run& run) {
  std::packaged_task<decltype(run())()> task(run);
  auto result = task.get_future();
  std::thread(std::move(task)).detach();
  if (result.wait_for(limit) != std::future_status::ready) {
    throw Error(ErrorKind::kDevice, problem);
  }
  return result.get();
}

}  // namespace trainer::dist
