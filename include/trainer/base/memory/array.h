// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

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

/// Like std::vector, for trivially copyable elements and for sizes up to the number of cells of a
/// large table.
template <class T>
requires std::is_trivially_copyable_v<T>
class Array {
 public:
  // Member types with the names that the standard library expects of a container.
  // NOLINTBEGIN(readability-identifier-naming)
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;
  // NOLINTEND(readability-identifier-naming)

  Array() = default;
  explicit Array(size_t size, T value = T()) { resize(size, value); }
  Array(std::initializer_list<T> values) { assign(values.begin(), values.end()); }
  template <std::forward_iterator Iterator>
  Array(Iterator begin, Iterator end) {
    assign(begin, end);
  }
  // NOLINTNEXTLINE(google-explicit-constructor): a list is as good as an array
  Array(const std::vector<T>& values) : Array(values.begin(), values.end()) {}
  /// Takes over `memory`, which already holds `size` elements.
  Array(ArrayMemory memory, size_t size) : memory_(std::move(memory)), size_(size) {}
  ~Array() = default;
  Array(const Array& other) : Array(other.begin(), other.end()) {}
  /// Copies the elements of `other`; allocates only if the present capacity is too small.
  Array& operator=(const Array& other) {
    if (this != &other) assign(other.begin(), other.end());
    return *this;
  }
  Array(Array&& other) noexcept { swap(other); }
  /// Takes over the memory of `other`, which is empty afterwards.
  Array& operator=(Array&& other) noexcept {
    Array taken(std::move(other));
    swap(taken);
    return *this;
  }

  T* data() { return static_cast<T*>(memory_.data()); }
  const T* data() const { return static_cast<const T*>(memory_.data()); }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  /// The element at `index`, which must be less than size(); this is not checked.
  T& operator[](size_t index) { return data()[index]; }
  const T& operator[](size_t index) const { return data()[index]; }
  T& front() { return *begin(); }
  const T& front() const { return *begin(); }
  T& back() { return *(end() - 1); }
  const T& back() const { return *(end() - 1); }

  /// Makes the capacity at least `size` elements.
  void reserve(size_t size) {
    if (size * sizeof(T) > memory_.capacity()) {
      memory_.reserve(size * sizeof(T), size_ * sizeof(T));
    }
  }
  /// Changes the number of elements; new elements are copies of `value`.
  void resize(size_t size, T value = T()) {
    grow(size);
    if (size > size_) std::fill(end(), data() + size, value);
    size_ = size;
  }
  /// Like resize(), but the values of new elements are undefined until they are written.
  void resize_for_overwrite(size_t size) {
    grow(size);
    size_ = size;
  }
  /// Removes all elements but keeps the capacity.
  void clear() { size_ = 0; }
  /// Appends one element; a full array grows its capacity by half.
  void push_back(T value) {
    grow(size_ + 1);
    data()[size_++] = value;
  }
  /// Appends copies of `[begin, end)`, which must not be a part of this array.
  template <std::forward_iterator Iterator>
  void append(Iterator begin, Iterator end) {
    const size_t size = size_ + static_cast<size_t>(std::distance(begin, end));
    grow(size);
    std::copy(begin, end, this->end());
    size_ = size;
  }
  /// Replaces all elements by copies of `[begin, end)`, which must not be a part of this array.
  template <std::forward_iterator Iterator>
  void assign(Iterator begin, Iterator end) {
    clear();
    append(begin, end);
  }
  /// Exchanges the memory of two arrays without copying elements.
  void swap(Array& other) noexcept {
    memory_.swap(other.memory_);
    std::swap(size_, other.size_);
  }

  /// Whether both have the same number of elements and all elements are equal.
  friend bool operator==(const Array& a, const Array& b) { return std::ranges::equal(a, b); }
  friend bool operator==(const Array& a, const std::vector<T>& b) {
    return std::ranges::equal(a, b);
  }

 private:
  void grow(size_t size) {
    const size_t capacity = memory_.capacity() / sizeof(T);
    if (size > capacity) reserve(std::max(size, capacity + capacity / 2));
  }

  ArrayMemory memory_;
  size_t size_ = 0;
};

}  // namespace trainer
