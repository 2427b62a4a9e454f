// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <utility>

#include "trainer/base/error.h"

namespace trainer::dist {

/// Calls run(), which may block without a time limit, in another thread. After `limit`, throws
/// Error(kDevice) with the message `problem` and leaves the thread behind, so run() must not use
/// anything that may be destroyed. The process ends soon anyway.
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
