// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <string>

#include "trainer/launch/place.h"

namespace trainer::launch {

/// A rank that waits for the others, with a time limit.
struct Wait {
  Place place;
  std::chrono::milliseconds timeout;
  std::chrono::steady_clock::time_point end;
};

/// Begins a wait that ends after `timeout`.
Wait begin_wait(const Place& place, std::chrono::milliseconds timeout);

/// Returns the time until the end of the wait, at least 0.
std::chrono::milliseconds time_left(const Wait& wait);

/// Throws Error(kDevice) with a message such as "srun: rank 1 of 3 PROBLEM; FIX, or set
/// distributed.enabled=off ...".
[[noreturn]] void fail(const Place& place, const std::string& problem, const std::string& fix);

/// Throws as fail() does, because the rank waited all its time for `whom`.
[[noreturn]] void fail_late(const Wait& wait, const std::string& whom, const std::string& fix);

/// With these flags, send() to an end that is gone fails instead of raising SIGPIPE.
#ifdef MSG_NOSIGNAL
inline constexpr int kSendFlags = MSG_NOSIGNAL;
#else
inline constexpr int kSendFlags = 0;  // sockets have SO_NOSIGPIPE instead
#endif

/// Returns whether a call on a socket that failed with the error `code` may succeed later.
inline bool is_temporary(int code) {
  return code == EAGAIN || code == EWOULDBLOCK || code == EINTR;
}

}  // namespace trainer::launch
