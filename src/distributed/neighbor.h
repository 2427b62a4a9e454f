// SPDX-License-Identifier: Apache-2.0
#pragma once

#ifdef __linux__

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "trainer/distributed/transport.h"

#include "distributed/shared_memory.h"

namespace trainer::dist {

/// A block of memory of this process that neighbors may have mapped.
struct SharedBlock {
  std::shared_ptr<Block> block;
  std::size_t num_bytes = 0;
};

/// The memory that this process shares with its neighbors.
struct OwnMemory {
  RegionLayout layout;
  Region region;
  std::size_t index = 0;  // index of this process among those of the machine
  std::vector<SharedBlock> blocks;
};

/// Another process of this machine, with the messages that are in transit to and from it.
class Neighbor {
 public:
  Neighbor(int64_t rank, std::size_t index) : rank_(rank), index_(index) {}

  int64_t rank() const { return rank_; }

  /// Maps the region of the neighbor. Returns whether that succeeded.
  bool open(const std::string& notice, const RegionLayout& layout);

  /// Maps block `index` of the neighbor unless it is mapped already. Returns whether it is mapped.
  bool open_block(std::size_t index, int file, std::size_t num_bytes);

  /// Notes that the neighbor has mapped block `index` of this process. From now on it reads long
  /// messages in this block without a copy.
  void sees_block(std::size_t index);

  void add_sent(const Message& message, int64_t exchange);
  void add_received(const Message& message, int64_t exchange);

  /// Moves as many bytes as possible without waiting, and returns whether it moved any. Adds the
  /// exchange of each completed message to `complete`.
  bool progress(const OwnMemory& mine, std::vector<int64_t>& complete);

  /// Whether any message to or from the neighbor is incomplete.
  bool is_awaited() const { return !sends_.empty() || !references_.empty() || !receives_.empty(); }

  /// Whether the process of the neighbor has ended.
  bool has_ended() const;
  /// Whether the neighbor has stopped exchanging messages, because a rank is lost.
  bool has_given_up() const;

  /// Wakes the neighbor if it sleeps, after messages have moved.
  void ring_bell() const;

 private:
  struct Transfer {
    std::byte* data = nullptr;
    std::size_t num_bytes = 0;  // bytes that are still to be moved
    const void** view = nullptr;
    int64_t exchange = 0;
    bool has_begun = false;
  };
  /// A message that the neighbor reads in the memory of this process. It has been read when the
  /// neighbor has read the ring up to `position`.
  struct Reference {
    uint64_t position = 0;
    int64_t exchange = 0;
  };
  struct Header;

  static Transfer transfer_of(const Message& message, int64_t exchange);
  bool send(const OwnMemory& mine, std::vector<int64_t>& complete);
  bool receive(const OwnMemory& mine, std::vector<int64_t>& complete);
  Header header_of(const Transfer& transfer, const std::vector<SharedBlock>& blocks) const;
  static void advance(std::deque<Transfer>& transfers, std::size_t count,
                      std::vector<int64_t>& complete);

  int64_t rank_;
  std::size_t index_;  // index of the neighbor among the processes of the machine
  OtherProcess other_;
  std::vector<Block> blocks_;      // mapped blocks of the neighbor
  std::vector<bool> sees_blocks_;  // per block of this process
  std::deque<Transfer> sends_;
  std::deque<Reference> references_;
  std::deque<Transfer> receives_;
};

}  // namespace trainer::dist

#endif
