// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

namespace trainer {

/// A file that appears at `path` complete and on disk, or not at all: it is written under a
/// temporary name in the same folder, synced, renamed to `path`, and the folder is synced. Without
/// commit() the temporary file is removed.
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

  /// Appends to the temporary file through a buffer.
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);
  /// Writes the buffer to the temporary file and returns the path of this file, so that it can be
  /// verified before commit().
  const std::filesystem::path& flushed();
  /// Syncs the file, renames it to `path` and syncs the folder. Must be the last call.
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

/// Writes `text` to `path` with an AtomicFile and commits it. Throws Error(kFileSystem).
void write_file_atomically(const std::filesystem::path& path, std::string_view text);

/// Makes `link` a symbolic link to `target`, replacing an older link in one step. Throws
/// Error(kFileSystem).
void replace_symlink(const std::filesystem::path& link, const std::filesystem::path& target);

/// Makes `name` a hard link to the complete file `file`, or a copy if the file system has no hard
/// links, and replaces an older file of that name in one step. Throws Error(kFileSystem).
void publish_file(const std::filesystem::path& file, const std::filesystem::path& name);

/// Renames a file or folder and syncs the parent folders of both names, so that the rename reaches
/// the disk before anything that is written later. Returns the error of the rename, if any; throws
/// Error(kFileSystem) if a folder cannot be synced.
std::error_code rename_durably(const std::filesystem::path& from, const std::filesystem::path& to);

/// Writes the data of an open file to the disk itself. Returns 0, or -1 with errno.
int sync_file(int descriptor);

/// Syncs the directory entries of a folder to disk, of the current one for "", which is the parent
/// of a bare name. Throws Error(kFileSystem).
void sync_folder(const std::filesystem::path& named);

/// Removes the temporary files that a killed process left in `folder`: all of them, or only those
/// of the file `file_name`. No other process may be writing to them.
void remove_temporary_files(const std::filesystem::path& folder, const std::string& file_name = "");

/// Marks a point at which a killed process leaves files unfinished, so that tests can stop at each
/// of them. With TRAINER_CRASH_AT=n in the environment the n-th call kills the process (SIGKILL);
/// with TRAINER_STOP_AT_EACH=1 each call stops it (SIGSTOP) until it receives SIGCONT. Does nothing
/// otherwise.
void crash_point();

}  // namespace trainer
