// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

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

/// Throws Error(kCheckpoint) if the first bytes of a file (up to twenty) are not those of the
/// expected format.
using CheckBegin = void (*)(std::string_view begin, uint64_t file_size, const std::string& path);

/// The content of the file. Throws Error(kCheckpoint) for a missing file, a folder, an empty file
/// and what `check_begin` rejects, Error(kOutOfMemory) if it does not fit into memory.
FileBuffer read_file(const std::string& path, CheckBegin check_begin);

}  // namespace trainer::archive
