// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <utility>

namespace trainer {

/// From now on, blocks of at least 1 MiB are mappings of unnamed files in `folder`, so that the
/// system can write their pages to disk when memory is short. The files are deleted with the
/// arrays. An empty path, the initial state, means anonymous memory.
void keep_arrays_in(const std::filesystem::path& folder);

/// How bytes of a mapped file are going to be accessed.
enum class Access {
  kRandom,  // at scattered offsets: no read-ahead
  kSoon,    // all of them, soon: start to read them now
  kLate,    // not for some time: the first pages to drop when memory is short
};

/// Gives the system a hint about the use of `bytes`. Returns at once; a hint that fails is ignored.
void advise(std::span<const std::byte> bytes, Access access);

/// The memory of an Array. Blocks of at least 1 MiB are mappings of their own, with huge pages
/// where the system has them, and grow without being copied on Linux.
class ArrayMemory {
 public:
  ArrayMemory() = default;
  /// A view of the `num_bytes` bytes at `data`, which `owner` keeps valid.
  ArrayMemory(std::shared_ptr<const void> owner, void* data, size_t num_bytes)
      : data_(data), capacity_(num_bytes), owner_(std::move(owner)), kind_(Kind::kView) {}
  ~ArrayMemory();
  ArrayMemory(ArrayMemory&& other) noexcept { swap(other); }
  ArrayMemory(const ArrayMemory&) = delete;
  ArrayMemory& operator=(const ArrayMemory&) = delete;
  ArrayMemory& operator=(ArrayMemory&& other) = delete;

  void* data() const { return data_; }
  size_t capacity() const { return capacity_; }
  /// Makes the capacity `num_bytes` or more and keeps the first `num_used` bytes. Throws
  /// std::bad_alloc, or Error(kFileSystem) where arrays are in files and the disk is full.
  void reserve(size_t num_bytes, size_t num_used);
  /// Exchanges the memory of the two objects without copying bytes.
  void swap(ArrayMemory& other) noexcept;

 private:
  enum class Kind : uint8_t { kHeap, kMapped, kFile, kView };

  void map(size_t num_bytes);
  bool grow_mapping(size_t num_bytes);

  void* data_ = nullptr;
  size_t capacity_ = 0;
  std::shared_ptr<const void> owner_;
  int file_ = -1;
  Kind kind_ = Kind::kHeap;
};

}  // namespace trainer
