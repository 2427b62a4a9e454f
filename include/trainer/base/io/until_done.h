// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>

namespace trainer {

/// Repeats a system call while signals interrupt it, and returns its result: -1 means an error in
/// errno other than EINTR. On NFS and FUSE, open(), fsync() and others can be interrupted too.
template <class Call>
auto until_done(const Call& call) {
  for (;;) {
    const auto result = call();
    if (result != -1 || errno != EINTR) return result;
  }
}

}  // namespace trainer
