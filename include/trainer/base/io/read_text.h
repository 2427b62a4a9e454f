// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "trainer/base/error.h"

namespace trainer {

/// The whole content of a file or pipe; nothing if there is no file of this name. Throws
/// Error(kind) "PATH: PROBLEM: REASON" if the system cannot read all of it: a part of a file is
/// never taken for the whole.
std::optional<std::string> read_text(const std::filesystem::path& path,
                                     ErrorKind kind = ErrorKind::kFileSystem,
                                     std::string_view problem = "cannot be read");

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
