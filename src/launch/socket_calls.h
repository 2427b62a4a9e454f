// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/socket.h>

#include <cerrno>

namespace trainer::launch {

/// Another end that is gone is an error of send(), not a SIGPIPE.
#ifdef MSG_NOSIGNAL
inline constexpr int kSendFlags = MSG_NOSIGNAL;
#else
inline constexpr int kSendFlags = 0;  // SO_NOSIGPIPE does it
#endif

/// Whether a call on a socket that failed with `code` may work later.
inline bool is_temporary(int code) {
  return code == EAGAIN || code == EWOULDBLOCK || code == EINTR;
}

}  // namespace trainer::launch
