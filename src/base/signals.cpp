// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/signals.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>

namespace trainer {
namespace {

std::atomic<int> stop_signal{0};
std::atomic<bool> save_wanted{false};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free,
              "a signal handler may not wait for a lock");

// Only does what POSIX allows in a signal handler. The training loop saves later, between steps.
extern "C" void remember(int signal) {
  constexpr int kExitOfSigint = 128 + SIGINT;
  if (signal == SIGUSR1) {
    save_wanted.store(true);
    return;
  }
  if (signal == SIGINT && stop_signal.load() != 0) _exit(kExitOfSigint);
  stop_signal.store(signal);
}

int num_watching = 0;  // calls of watch_signals() without one of unwatch_signals()

constexpr std::array kWatched = {SIGINT, SIGTERM, SIGHUP, SIGUSR1};
std::array<struct sigaction, kWatched.size()> usual{};

std::array<bool, kWatched.size()> find_ignored() {
  std::array<bool, kWatched.size()> ignored{};
  for (std::size_t i = 0; i < kWatched.size(); ++i) {
    struct sigaction action {};
    sigaction(kWatched[i], nullptr, &action);
    ignored[i] = action.sa_handler == SIG_IGN;
  }
  return ignored;
}

// Saved at start: UCX, which Debian's LibTorch 2.6 loads with MPI, installs a handler for SIGHUP,
// even where it was ignored.
const std::array<bool, kWatched.size()> kIgnoredAtStart = find_ignored();

bool is_ignored_at_start(int signal) {
  const auto found = std::find(kWatched.begin(), kWatched.end(), signal);
  return kIgnoredAtStart[static_cast<std::size_t>(found - kWatched.begin())];
}

}  // namespace

void accept_save_requests() {
  if (is_ignored_at_start(SIGUSR1)) return;
  struct sigaction action {};
  action.sa_handler = remember;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGUSR1, &action, nullptr);
}

void watch_signals(OnSignal on_signal) {
  if (num_watching++ > 0) return;
  stop_signal.store(0);
  save_wanted.store(false);
  struct sigaction action {};
  action.sa_handler = remember;
  action.sa_flags = on_signal == OnSignal::kRestart ? SA_RESTART : 0;
  sigemptyset(&action.sa_mask);
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  for (std::size_t i = 0; i < kWatched.size(); ++i) {
    sigaction(kWatched[i], nullptr, &usual[i]);
    // nohup, and shells that start a command with &, rely on ignored signals staying ignored.
    const bool is_ignored = kIgnoredAtStart[i] || usual[i].sa_handler == SIG_IGN;
    sigaction(kWatched[i], is_ignored ? &ignore : &action, nullptr);
  }
}

const char* signal_name(int signal) {
  switch (signal) {
    case SIGINT:
      return "SIGINT";
    case SIGTERM:
      return "SIGTERM";
    case SIGHUP:
      return "SIGHUP";
    default:
      return "a signal";
  }
}

int stop_request() { return stop_signal.load(std::memory_order_relaxed); }

bool take_save_request() {
  return save_wanted.load(std::memory_order_relaxed) && save_wanted.exchange(false);
}

void unwatch_signals() {
  if (--num_watching > 0) return;
  for (std::size_t i = 0; i < kWatched.size(); ++i) sigaction(kWatched[i], &usual[i], nullptr);
  stop_signal.store(0);
  save_wanted.store(false);
}

}  // namespace trainer
