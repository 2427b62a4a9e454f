// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/io/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/io/read_text.h"

namespace trainer {
namespace {

// A refused lock is tried again, as is_locked() in another process holds the lock for a moment.
constexpr int kTries = 5;
constexpr std::chrono::milliseconds kPause{2};

int open_folder(const std::filesystem::path& folder) {
  return until_done([&] { return open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
}

/// Whether the lock was acquired; if not, errno says why.
bool try_lock(int descriptor, int operation) {
  return until_done([&] { return flock(descriptor, operation); }) == 0;
}

/// False if another process holds the lock. Returns true where the file system has no locks, which
/// gives no protection.
bool lock(int descriptor, FolderLock::WhenTaken when_taken) {
  const bool waits = when_taken == FolderLock::WhenTaken::kWait;
  for (int i = 1; !try_lock(descriptor, waits ? LOCK_EX : LOCK_EX | LOCK_NB); ++i) {
    if (errno != EWOULDBLOCK) break;
    if (i == kTries) return false;
    std::this_thread::sleep_for(kPause);
  }
  return true;
}

}  // namespace

FolderLock::FolderLock(const std::filesystem::path& folder, WhenTaken when_taken)
    : descriptor_(open_folder(folder)) {
  if (descriptor_ < 0) {
    throw Error(ErrorKind::kFileSystem,
                fmt::format("cannot open the folder {}: {}", folder.string(),
                            std::generic_category().message(errno)));
  }
  if (lock(descriptor_, when_taken)) return;
  close(descriptor_);
  throw Error(ErrorKind::kFileSystem,
              fmt::format("{}: another process is using this folder; wait until it has finished",
                          folder.string()));
}

FolderLock::~FolderLock() { close(descriptor_); }

bool is_locked(const std::filesystem::path& folder) {
  const int descriptor = open_folder(folder);
  if (descriptor < 0) return false;
  const bool is_free = try_lock(descriptor, LOCK_SH | LOCK_NB);
  const bool is_taken = !is_free && errno == EWOULDBLOCK;
  close(descriptor);
  return is_taken;
}

}  // namespace trainer
