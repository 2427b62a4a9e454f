// SPDX-License-Identifier: Apache-2.0
#include "trainer/core/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include <fmt/format.h>

#include "trainer/core/error.h"

namespace trainer {

FolderLock::FolderLock(const std::filesystem::path& folder, WhenTaken when_taken)
    : descriptor_(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (descriptor_ < 0) {
    throw Error(ErrorKind::kFileSystem,
                fmt::format("cannot open the folder {}: {}", folder.string(),
                            std::generic_category().message(errno)));
  }
  int result = 0;
  do {
    result = flock(descriptor_, when_taken == WhenTaken::kWait ? LOCK_EX : LOCK_EX | LOCK_NB);
  } while (result != 0 && errno == EINTR);
  if (result == 0 || errno != EWOULDBLOCK) return;
  close(descriptor_);
  throw Error(ErrorKind::kFileSystem,
              fmt::format("{}: another process is using this folder; wait until it has finished",
                          folder.string()));
}

FolderLock::~FolderLock() { close(descriptor_); }

}  // namespace trainer
