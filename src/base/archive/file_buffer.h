// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace trainer::archive {

/// The content of a file, at a multiple of kRecordAlignment, so that records are aligned in memory
/// as in the file.
struct FileBuffer {
  std::shared_ptr<std::byte> data;
  std::size_t size = 0;
};

/// Throws Error(kCheckpoint) with the message "{path}: {what}".
[[noreturn]] void fail(const std::string& path, const std::string& what);

/// Allocates an uninitialized buffer of `size` bytes. Throws std::bad_alloc.
FileBuffer allocate(std::size_t size);

/// A function that throws Error(kCheckpoint) if the first bytes of a file (up to twenty) do not
/// belong to the expected format.
using CheckBegin = void (*)(std::string_view begin, uint64_t file_size, const std::string& path);

/// Reads a whole file. Throws Error(kCheckpoint) for a missing file, a folder, an empty file and if
/// `check_begin` does, Error(kOutOfMemory) if the file does not fit into memory.
FileBuffer read_file(const std::string& path, CheckBegin check_begin);

}  // namespace trainer::archive
