// SPDX-License-Identifier: Apache-2.0
#include "workflows/experiments/run_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/io/until_done.h"

namespace trainer::experiments {
namespace {

int open_lock_file(const std::filesystem::path& file) {
  constexpr mode_t kForAll = 0666;  // the umask is subtracted
  // The file is open for writing, because NFS allows an exclusive lock only then.
  const int descriptor =
      until_done([&] { return open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kForAll); });
  if (descriptor >= 0) return descriptor;
  throw Error(ErrorKind::kFileSystem, fmt::format("cannot write {}: {}", file.string(),
                                                  std::generic_category().message(errno)));
}

/// Returns whether the file still has a name. The previous holder of the lock may just have removed
/// it.
bool has_name(int descriptor) {
  struct stat status {};
  return fstat(descriptor, &status) == 0 && status.st_nlink > 0;
}

}  // namespace

std::unique_ptr<RunLock> RunLock::try_take(const std::filesystem::path& file) {
  for (;;) {
    const int descriptor = open_lock_file(file);
    const int result = until_done([&] { return flock(descriptor, LOCK_EX | LOCK_NB); });
    const int why = result == 0 ? 0 : errno;
    if (why == 0 && has_name(descriptor)) {
      return std::unique_ptr<RunLock>(new RunLock(file, descriptor));
    }
    close(descriptor);
    if (why == EWOULDBLOCK) return nullptr;
    if (why == 0) continue;
    throw Error(
        ErrorKind::kFileSystem,
        fmt::format("{}: cannot lock this file: {}; processes agree by locks on who trains which "
                    "run: set output_dir to a folder on another file system, or start one process",
                    file.string(), std::generic_category().message(why)));
  }
}

// The file is removed before it is unlocked, because then it may be locked by another process.
RunLock::~RunLock() {
  unlink(file_.c_str());
  close(descriptor_);
}

}  // namespace trainer::experiments
