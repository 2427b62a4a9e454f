// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/socket.h>

#include <cerrno>

namespace trainer::launch {

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
