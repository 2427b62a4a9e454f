// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/io/crash_point.h"

#include <signal.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>

namespace trainer {
namespace {

int64_t calls_from_environment() {
  const char* text = std::getenv("TRAINER_CRASH_AT");
  return text == nullptr ? 0 : std::atoll(text);
}

}  // namespace

void crash_point() {
  static const bool stops = std::getenv("TRAINER_STOP_AT_EACH") != nullptr;
  if (stops) raise(SIGSTOP);
  static std::atomic<int64_t> calls_left{calls_from_environment()};
  if (calls_left.load(std::memory_order_relaxed) <= 0) return;
  if (calls_left.fetch_sub(1) == 1) raise(SIGKILL);
}

}  // namespace trainer
