// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace trainer::duckdb {

/// A folder for temporary files that nobody else can look into, in the system's place for them; it
/// is removed with all that is in it.
class PrivateFolder {
 public:
  /// Without one if none can be made.
  PrivateFolder();
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;

  /// Empty if there is none.
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace trainer::duckdb
