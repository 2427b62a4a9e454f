// SPDX-License-Identifier: Apache-2.0
#pragma once

#ifdef __linux__

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <utility>

// Memory that the processes of one machine share: each has a region, which the others map. It is a
// file without a name, which others open by /proc, so that nothing is left over when processes are
// killed.
namespace trainer::dist {

static_assert(std::atomic<uint32_t>::is_always_lock_free &&
              std::atomic<uint64_t>::is_always_lock_free);

using Token = std::array<char, 33>;  // 32 hexadecimal digits

/// The state of a process that others see.
struct alignas(64) Desk {
  Token token{};                              // tells this region from any other file
  alignas(64) std::atomic<uint32_t> bell{0};  // counts what others have done for this process
  std::atomic<uint32_t> is_asleep{0};
  std::atomic<uint32_t> has_given_up{0};
};

/// How many bytes one process has written to a ring, and another one has read.
struct Ring {
  alignas(64) std::atomic<uint64_t> written{0};
  alignas(64) std::atomic<uint64_t> read{0};
};

/// What is in the region of each of `num_processes`: a desk, and a ring to each process.
struct RegionLayout {
  std::size_t num_processes = 0;
  std::size_t ring_bytes = 0;

  std::size_t ring_offset(std::size_t to) const {
    return sizeof(Desk) + to * (sizeof(Ring) + ring_bytes);
  }
  std::size_t size() const { return ring_offset(num_processes); }
};

RegionLayout layout_for(std::size_t num_processes);

class FileHandle {
 public:
  FileHandle() = default;
  explicit FileHandle(int fd) : fd_(fd) {}
  FileHandle(FileHandle&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileHandle& operator=(FileHandle&& other) noexcept;
  FileHandle(const FileHandle&) = delete;
  FileHandle& operator=(const FileHandle&) = delete;
  ~FileHandle();
  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

class Mapping {
 public:
  Mapping() = default;
  /// Null if that fails.
  Mapping(const FileHandle& file, std::size_t size);
  Mapping(Mapping&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(other.size_) {}
  Mapping& operator=(Mapping&& other) noexcept;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping();
  std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Memory of a process, mapped here.
struct Block {
  FileHandle file;
  Mapping memory;

  bool is_mapped() const { return memory.data() != nullptr; }
};

/// The block of a process by which others reach it.
struct Region : Block {
  Desk& desk() const { return *std::launder(reinterpret_cast<Desk*>(memory.data())); }
  Ring& ring(const RegionLayout& layout, std::size_t to) const {
    return *std::launder(reinterpret_cast<Ring*>(memory.data() + layout.ring_offset(to)));
  }
  std::byte* ring_memory(const RegionLayout& layout, std::size_t to) const {
    return memory.data() + layout.ring_offset(to) + sizeof(Ring);
  }
};

struct OtherProcess {
  int id = 0;
  Region region;
  FileHandle process;  // poll() finds it readable when the process has ended
};

/// The region of this process; not mapped if the system has no memory for it.
Region make_region(const RegionLayout& layout);

/// What other processes need to open it.
std::string notice_of(const Region& region);

/// Zeroed memory of this process; not mapped if the system has none.
Block make_block(std::size_t num_bytes);

/// Block `file` of process `id`, or not mapped.
Block open_block(int id, int file, std::size_t num_bytes);

/// Not mapped if the process cannot be seen from here.
OtherProcess open_process(const std::string& notice, const RegionLayout& layout);

}  // namespace trainer::dist

#endif
