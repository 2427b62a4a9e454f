// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <utility>

namespace trainer {

/// Arrays that get at least 1 MiB from now on get it in files of `folder`, which have no names and
/// end with the arrays: the system may write their pages there and drop them. Empty: in memory, as
/// at the beginning.
void keep_arrays_in(const std::filesystem::path& folder);

/// How bytes of a mapped file are going to be used.
enum class Access {
  kRandom,  // here and there: nothing else is to be read with them
  kSoon,    // all of them: to be read now
  kLate,    // not for long: the first to be dropped
};

/// Tells the system, which may do better for it and returns at once.
void advise(std::span<const std::byte> bytes, Access access);

/// The bytes of an Array. Large ones are mapped by themselves, with huge pages where the system has
/// them, and grow without being copied where it can (Linux).
class ArrayMemory {
 public:
  ArrayMemory() = default;
  /// A part of something that is mapped elsewhere, and stays so as long as `owner` does.
  ArrayMemory(std::shared_ptr<const void> owner, void* data, size_t num_bytes)
      : data_(data), capacity_(num_bytes), owner_(std::move(owner)), kind_(Kind::kView) {}
  ~ArrayMemory();
  ArrayMemory(ArrayMemory&& other) noexcept { swap(other); }
  ArrayMemory(const ArrayMemory&) = delete;
  ArrayMemory& operator=(const ArrayMemory&) = delete;
  ArrayMemory& operator=(ArrayMemory&& other) = delete;

  void* data() const { return data_; }
  size_t capacity() const { return capacity_; }
  /// Makes room for more and keeps the first `num_used` bytes. Throws std::bad_alloc, or
  /// Error(kFileSystem) where arrays are in files and the disk is full.
  void reserve(size_t num_bytes, size_t num_used);
  /// Takes the memory of `other` and gives it its own.
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
