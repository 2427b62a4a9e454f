// SPDX-License-Identifier: Apache-2.0
// Each process has a ring buffer for each of its neighbors: it copies messages in, the neighbor
// copies them out, and each publishes its position. Both sides know the length of each message, so
// the order of the bytes suffices to separate messages. A long message in memory that the neighbor
// has mapped too is not copied: the ring only contains its address.
#include "distributed/neighbor.h"

#ifdef __linux__

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include <linux/futex.h>

namespace trainer::dist {

/// The header of a message in a ring. All entries of a ring are padded to a multiple of its size.
struct Neighbor::Header {
  // 0: the bytes follow; else 1 + the index of the sender's block that contains them.
  uint64_t block = 0;
  uint64_t offset = 0;
};

namespace {

constexpr std::size_t kHeaderBytes = 16;
// Bytes that are copied before the position is published.
constexpr std::size_t kChunkBytes = std::size_t{1} << 15;
constexpr std::size_t kMinReferenceBytes = std::size_t{1} << 14;  // shorter messages are copied

constexpr std::size_t padded(std::size_t num_bytes) {
  return (num_bytes + kHeaderBytes - 1) / kHeaderBytes * kHeaderBytes;
}

// Returns how many bytes are copied next. A copy does not wrap around the end of the ring.
std::size_t chunk_at(uint64_t position, uint64_t available, std::size_t num_bytes,
                     std::size_t ring_bytes) {
  return std::min({static_cast<std::size_t>(available), num_bytes, kChunkBytes,
                   ring_bytes - position % ring_bytes});
}

}  // namespace

bool Neighbor::open(const std::string& notice, const RegionLayout& layout) {
  other_ = open_process(notice, layout);
  return other_.region.is_mapped();
}

bool Neighbor::open_block(std::size_t index, int file, std::size_t num_bytes) {
  if (num_bytes == 0) return false;
  if (index >= blocks_.size()) blocks_.resize(index + 1);
  Block& block = blocks_[index];
  if (!block.is_mapped()) block = dist::open_block(other_.id, file, num_bytes);
  return block.is_mapped();
}

void Neighbor::sees_block(std::size_t index) {
  if (index >= sees_blocks_.size()) sees_blocks_.resize(index + 1);
  sees_blocks_[index] = true;
}

Neighbor::Transfer Neighbor::transfer_of(const Message& message, int64_t exchange) {
  return {.data = static_cast<std::byte*>(message.data),
          .num_bytes = message.num_bytes,
          .view = message.view,
          .exchange = exchange};
}

void Neighbor::add_sent(const Message& message, int64_t exchange) {
  sends_.push_back(transfer_of(message, exchange));
}

void Neighbor::add_received(const Message& message, int64_t exchange) {
  receives_.push_back(transfer_of(message, exchange));
}

bool Neighbor::progress(const OwnMemory& mine, std::vector<int64_t>& complete) {
  bool has_moved = false;
  while (send(mine, complete) || receive(mine, complete)) {
    has_moved = true;
    ring_bell();
  }
  const uint64_t read = mine.region.ring(mine.layout, index_).read.load(std::memory_order_acquire);
  while (!references_.empty() && references_.front().position <= read) {
    complete.push_back(references_.front().exchange);
    references_.pop_front();
    has_moved = true;
  }
  return has_moved;
}

bool Neighbor::send(const OwnMemory& mine, std::vector<int64_t>& complete) {
  if (sends_.empty()) return false;
  Transfer& transfer = sends_.front();
  const std::size_t ring_bytes = mine.layout.ring_bytes;
  Ring& ring = mine.region.ring(mine.layout, index_);
  const uint64_t written = ring.written.load(std::memory_order_relaxed);
  const uint64_t available = ring_bytes - (written - ring.read.load(std::memory_order_acquire));
  if (available == 0) return false;
  std::byte* out = mine.region.ring_memory(mine.layout, index_) + written % ring_bytes;
  if (!transfer.has_begun) {
    const Header header = header_of(transfer, mine.blocks);
    static_assert(sizeof header == kHeaderBytes);
    std::memcpy(out, &header, sizeof header);
    ring.written.store(written + sizeof header, std::memory_order_release);
    transfer.has_begun = true;
    if (header.block != 0) {
      references_.push_back({written + sizeof header, transfer.exchange});
      sends_.pop_front();
    }
    return true;
  }
  const std::size_t count = chunk_at(written, available, transfer.num_bytes, ring_bytes);
  std::memcpy(out, transfer.data, count);
  ring.written.store(written + padded(count), std::memory_order_release);
  advance(sends_, count, complete);
  return true;
}

bool Neighbor::receive(const OwnMemory& mine, std::vector<int64_t>& complete) {
  if (receives_.empty()) return false;
  Transfer& transfer = receives_.front();
  const std::size_t ring_bytes = mine.layout.ring_bytes;
  Ring& ring = other_.region.ring(mine.layout, mine.index);
  const uint64_t read = ring.read.load(std::memory_order_relaxed);
  const uint64_t available = ring.written.load(std::memory_order_acquire) - read;
  if (available == 0) return false;
  const std::byte* in = other_.region.ring_memory(mine.layout, mine.index) + read % ring_bytes;
  std::size_t count = 0;
  std::size_t size = kHeaderBytes;  // bytes read from the ring
  if (transfer.has_begun) {
    count = chunk_at(read, available, transfer.num_bytes, ring_bytes);
    std::memcpy(transfer.data, in, count);
    size = padded(count);
  } else {
    Header header;
    std::memcpy(&header, in, sizeof header);
    transfer.has_begun = true;
    if (header.block != 0) {
      count = transfer.num_bytes;
      const std::byte* bytes = blocks_[header.block - 1].memory.data() + header.offset;
      if (transfer.view != nullptr) {
        *transfer.view = bytes;
      } else {
        std::memcpy(transfer.data, bytes, count);
      }
    }
  }
  ring.read.store(read + size, std::memory_order_release);
  if (count > 0) advance(receives_, count, complete);
  return true;
}

Neighbor::Header Neighbor::header_of(const Transfer& transfer,
                                     const std::vector<SharedBlock>& blocks) const {
  if (transfer.num_bytes < kMinReferenceBytes) return {};
  const auto address = reinterpret_cast<uintptr_t>(transfer.data);
  for (std::size_t i = 0; i < sees_blocks_.size(); ++i) {
    const auto begin = reinterpret_cast<uintptr_t>(blocks[i].block->memory.data());
    if (sees_blocks_[i] && begin <= address && address < begin + blocks[i].num_bytes) {
      return {.block = i + 1, .offset = address - begin};
    }
  }
  return {};
}

void Neighbor::advance(std::deque<Transfer>& transfers, std::size_t count,
                       std::vector<int64_t>& complete) {
  Transfer& transfer = transfers.front();
  transfer.data += count;
  transfer.num_bytes -= count;
  if (transfer.num_bytes > 0) return;
  complete.push_back(transfer.exchange);
  transfers.pop_front();
}

bool Neighbor::has_ended() const {
  pollfd process{.fd = other_.process.get(), .events = POLLIN, .revents = 0};
  return ::poll(&process, 1, 0) > 0;
}

bool Neighbor::has_given_up() const { return other_.region.desk().has_given_up.load() != 0; }

// The bell is incremented before `is_asleep` is read, while a sleeper sets `is_asleep` before it
// checks the bell for the last time, so no wake-up is lost.
void Neighbor::ring_bell() const {
  Desk& desk = other_.region.desk();
  desk.bell.fetch_add(1);
  if (desk.is_asleep.load() != 0) {
    ::syscall(SYS_futex, &desk.bell, FUTEX_WAKE, 1, nullptr, nullptr, 0);
  }
}

}  // namespace trainer::dist

#endif
