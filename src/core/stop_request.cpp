// SPDX-License-Identifier: Apache-2.0
#include "trainer/core/stop_request.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>

namespace trainer {
namespace {

std::atomic<int> requested{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may not wait for a lock");

// Only what POSIX allows in a handler: saving here could meet a half-made step.
extern "C" void remember(int signal) {
  constexpr int kExitOfSigint = 128 + SIGINT;
  if (signal == SIGINT && requested.load() != 0) _exit(kExitOfSigint);
  requested.store(signal);
}

void set_handler(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

}  // namespace

void watch_for_stop() {
  requested.store(0);
  set_handler(remember);
}

int stop_request() { return requested.load(std::memory_order_relaxed); }

void unwatch_stop() {
  set_handler(SIG_DFL);
  requested.store(0);
}

}  // namespace trainer
