// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <system_error>
#include <vector>

namespace trainer {

/// Folders that this process has made. The end of the scope removes those that are still empty.
class MadeFolders {
 public:
  MadeFolders() = default;
  ~MadeFolders();
  MadeFolders(const MadeFolders&) = delete;
  MadeFolders& operator=(const MadeFolders&) = delete;

  /// Makes the folder, whose name is then on disk. Returns whether it is new: an existing folder is
  /// no error. Throws Error(kFileSystem) if the parent folder cannot be synced.
  bool make(const std::filesystem::path& folder, std::error_code& error);

  /// Makes the parents that are missing, then the folder.
  void make_with_parents(const std::filesystem::path& folder, std::error_code& error);

 private:
  std::vector<std::filesystem::path> folders_;  // outermost first
};

}  // namespace trainer
