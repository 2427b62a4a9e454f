// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace trainer {

/// A file that appears under its name complete and on disk, or not at all: it is written under a
/// temporary name in the same folder, synced, renamed over `path`, and the folder is synced.
/// Without commit() the temporary file is removed.
///
///   AtomicFile file(path);
///   file.write(header);
///   file.write(body);
///   file.commit();
///
/// Every call throws Error(kFileSystem) with the path and the system's reason.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Adds this to what was written so far.
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);
  /// The temporary name, under which all that was written so far can be read: to check it before
  /// commit().
  const std::filesystem::path& flushed();
  /// Gives the file its name when all of it is on disk; the last call.
  void commit();

 private:
  struct Free {
    void operator()(std::byte* buffer) const;
  };
  void flush();

  std::filesystem::path path_;
  std::filesystem::path temporary_;
  int descriptor_ = -1;
  std::unique_ptr<std::byte, Free> buffer_;
  std::size_t buffered_ = 0;
};

/// Writes `text` to `path` by way of an AtomicFile.
void write_file_atomically(const std::filesystem::path& path, std::string_view text);

/// Makes `link` point to `target`, replacing an older link in one step.
void replace_symlink(const std::filesystem::path& link, const std::filesystem::path& target);

/// Makes `name` a further name of the complete file `file`, or a copy of it where the file system
/// has no hard links, replacing what had that name in one step. Throws Error(kFileSystem).
void publish_file(const std::filesystem::path& file, const std::filesystem::path& name);

/// Returns when the names in `folder` are on the disk. Throws Error(kFileSystem).
void sync_folder(const std::filesystem::path& folder);

/// Removes what a process that was killed left of the functions above in `folder`: of all files, or
/// of the one that is called `name_of_file`. Nobody else may be writing these.
void remove_temporary_files(const std::filesystem::path& folder,
                            const std::string& name_of_file = "");

}  // namespace trainer
