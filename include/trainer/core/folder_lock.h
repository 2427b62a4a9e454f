// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace trainer {

/// Keeps other processes that ask for the lock of a folder out of it. The lock ends with this
/// object, and with the process, however it ends; nothing is written to the folder.
class FolderLock {
 public:
  enum class WhenTaken { kRefuse, kWait };

  /// Throws Error(kFileSystem) when another process holds the lock, unless it is to be waited for.
  /// Where the file system cannot lock, there is no protection.
  explicit FolderLock(const std::filesystem::path& folder,
                      WhenTaken when_taken = WhenTaken::kRefuse);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_ = -1;
};

}  // namespace trainer
