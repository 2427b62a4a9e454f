// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>

namespace trainer {

/// The result of a system call that is made again as long as a signal interrupts it: -1 with errno,
/// but never EINTR. NFS and FUSE interrupt open(), fsync() and others too.
template <class Call>
auto until_done(const Call& call) {
  for (;;) {
    const auto result = call();
    if (result != -1 || errno != EINTR) return result;
  }
}

}  // namespace trainer
