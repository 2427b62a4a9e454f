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

// Memory that the processes of one machine share: each has a region, which the others map. A region
// is a file without a name, which others open by /proc, so that nothing is left over when processes
// are killed.
namespace trainer::dist {

static_assert(std::atomic<uint32_t>::is_always_lock_free &&
              std::atomic<uint64_t>::is_always_lock_free);

using Token = std::array<char, 33>;  // 32 hexadecimal digits

/// The state of a process that its neighbors read and write.
struct alignas(64) Desk {
  // Random text that distinguishes this region from any other file.
  Token token{};
  alignas(64) std::atomic<uint32_t> bell{0};  // incremented by others to wake this process
  std::atomic<uint32_t> is_asleep{0};
  std::atomic<uint32_t> has_given_up{0};
};

/// The numbers of bytes that one process has written to a ring, and another one has read.
struct Ring {
  alignas(64) std::atomic<uint64_t> written{0};
  alignas(64) std::atomic<uint64_t> read{0};
};

/// The layout of the region of each of `num_processes` processes: a Desk, then a ring to each
/// process.
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
  /// Maps `size` bytes of the file. data() is null if that fails.
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

/// Shared memory of this or of another process, mapped into this one.
struct Block {
  FileHandle file;
  Mapping memory;

  bool is_mapped() const { return memory.data() != nullptr; }
};

/// The block of a process with its desk and its rings.
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

/// Creates the region of this process. It is not mapped if the system lacks memory for it.
Region make_region(const RegionLayout& layout);

/// Returns the text that other processes need to open the region; "none" if it is not mapped.
std::string notice_of(const Region& region);

/// Creates a block of zeroed memory of this process. It is not mapped if that fails.
Block make_block(std::size_t num_bytes);

/// Opens the block with the file descriptor `file` of process `id`. It is not mapped if that fails,
/// or if its size is not `num_bytes`.
Block open_block(int id, int file, std::size_t num_bytes);

/// Opens the region and a handle of the process that `notice` describes (notice_of()). The region
/// is not mapped if the process is not visible, as in another container.
OtherProcess open_process(const std::string& notice, const RegionLayout& layout);

}  // namespace trainer::dist

#endif
