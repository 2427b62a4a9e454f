// SPDX-License-Identifier: Apache-2.0
#pragma once

#ifdef __linux__

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "trainer/dist/transport.h"

#include "dist/shared_memory.h"

namespace trainer::dist {

/// A block of this process that neighbors have mapped.
struct SharedBlock {
  std::shared_ptr<Block> block;
  std::size_t num_bytes = 0;
};

/// What this process shares with its neighbors.
struct OwnMemory {
  RegionLayout layout;
  Region region;
  std::size_t index = 0;  // among the processes of the machine
  std::vector<SharedBlock> blocks;
};

/// Another process of this machine, and the messages that are under way to it and from it.
class Neighbor {
 public:
  Neighbor(int64_t rank, std::size_t index) : rank_(rank), index_(index) {}

  int64_t rank() const { return rank_; }

  /// Maps its region; whether that worked.
  bool open(const std::string& notice, const RegionLayout& layout);

  /// Maps its block `index`, unless that is mapped already; whether it is.
  bool open_block(std::size_t index, int file, std::size_t num_bytes);

  /// From now on it reads long messages in that block of this process where they are.
  void sees_block(std::size_t index);

  void add_sent(const Message& message, int64_t exchange);
  void add_received(const Message& message, int64_t exchange);

  /// Moves what can be moved without waiting; whether that was anything. Adds the exchange of each
  /// message that is complete to `complete`.
  bool progress(const OwnMemory& mine, std::vector<int64_t>& complete);

  /// Whether any message is not complete.
  bool is_awaited() const { return !sends_.empty() || !references_.empty() || !receives_.empty(); }

  /// Whether its process has ended.
  bool has_ended() const;
  /// Whether it waits for nobody any more, because some rank is lost.
  bool has_given_up() const;

  /// Wakes it, if it sleeps.
  void ring_bell() const;

 private:
  struct Transfer {
    std::byte* data = nullptr;
    std::size_t num_bytes = 0;  // that are left
    const void** view = nullptr;
    int64_t exchange = 0;
    bool has_begun = false;
  };
  /// A message that it reads where it is, and has not read before it is so far in the ring.
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
  std::size_t index_;  // among the processes of the machine
  OtherProcess other_;
  std::vector<Block> blocks_;      // its own
  std::vector<bool> sees_blocks_;  // of this process
  std::deque<Transfer> sends_;
  std::deque<Reference> references_;
  std::deque<Transfer> receives_;
};

}  // namespace trainer::dist

#endif
