// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace trainer::archive {

/// A file in memory, aligned so that records are aligned as they are in the file.
struct FileBuffer {
  std::shared_ptr<std::byte> data;
  std::size_t size = 0;
};

/// Throws Error(kCheckpoint) about the file `path`.
[[noreturn]] void fail(const std::string& path, const std::string& what);

/// Memory for `size` bytes. Throws std::bad_alloc.
FileBuffer allocate(std::size_t size);

/// The whole of the file. Throws Error(kCheckpoint) for a missing file, a folder, an empty file and
/// what does not begin as a zip file does, Error(kOutOfMemory) when there is no memory for it.
FileBuffer read_file(const std::string& path);

}  // namespace trainer::archive
