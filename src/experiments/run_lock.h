// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <utility>

namespace trainer::experiments {

/// The right to do something that one process does at a time: a locked file (flock), which is there
/// only while somebody has it. A process that ends in any way has it no longer, but if killed
/// leaves the file. Unlike a locked folder, a file that is open for writing keeps processes on
/// other machines out as well, on network file systems with locks.
class RunLock {
 public:
  /// Nothing if somebody else has the lock. Throws Error(kFileSystem) if `file` cannot be made, or
  /// its file system has no locks.
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
