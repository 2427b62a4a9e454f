// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <utility>

namespace trainer::experiments {

/// The right to do something that only one process may do at a time: a locked file (flock), which
/// exists only while a process holds the lock. A process that ends in any way loses the lock, but
/// leaves the file if it was killed. Unlike a locked folder, a file that is open for writing also
/// keeps out processes on other machines, on network file systems with locks.
class RunLock {
 public:
  /// Returns nullptr if another process has the lock. Throws Error(kFileSystem) if `file` cannot be
  /// created, or its file system has no locks.
  static std::unique_ptr<RunLock> try_take(const std::filesystem::path& file);

  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

 private:
  RunLock(std::filesystem::path file, int descriptor)
      : file_(std::move(file)), descriptor_(descriptor) {}

  std::filesystem::path file_;
  int descriptor_;
};

}  // namespace trainer::experiments
