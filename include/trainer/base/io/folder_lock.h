// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace trainer {

/// An exclusive lock of a folder (flock) between processes. It is released with this object, and
/// when the process ends in any way; nothing is written to the folder.
class FolderLock {
 public:
  enum class WhenTaken { kRefuse, kWait };

  /// If another process holds the lock, throws Error(kFileSystem) or waits. A file system without
  /// locks gives no protection.
  explicit FolderLock(const std::filesystem::path& folder,
                      WhenTaken when_taken = WhenTaken::kRefuse);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_ = -1;
};

/// Whether a process holds the lock of `folder`. False where that cannot be found out.
bool is_locked(const std::filesystem::path& folder);

}  // namespace trainer
