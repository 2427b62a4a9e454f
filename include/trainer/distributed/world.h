// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include "trainer/base/parallel/shard_tree.h"
#include "trainer/distributed/transport.h"

namespace trainer::dist {

/// The range of elements [begin, end) of an array.
struct Segment {
  int64_t begin = 0;
  int64_t end = 0;

  int64_t size() const { return end - begin; }
};

/// Returns the range of `size` floats that a rank is responsible for adding. Borders between ranks
/// are at whole cache lines.
Segment segment_of(int64_t rank, int64_t num_ranks, int64_t size);

/// The assignment of the shards of a batch to ranks.
class Division {
 public:
  /// A single rank with a single shard.
  Division() : Division(1, 0, 1) {}
  /// The division for rank `rank` of `size` ranks.
  Division(int64_t num_shards, int64_t rank, int64_t size);

  int64_t num_shards() const { return num_shards_; }
  int64_t rank() const { return rank_; }
  int64_t num_ranks() const { return static_cast<int64_t>(subtrees_.size()); }
  /// The range of shards that this rank has.
  const ShardRange& mine() const { return mine_; }
  /// The fewest subtrees (base/parallel/shard_tree.h) that make up the shards of a rank.
  const std::vector<ShardRange>& subtrees_of(int64_t rank) const {
    return subtrees_[static_cast<std::size_t>(rank)];
  }
  const std::vector<ShardRange>& my_subtrees() const { return subtrees_of(rank_); }
  /// The subtrees of all ranks, in the order of the ranks.
  const std::vector<ShardRange>& all_subtrees() const { return all_; }
  /// The largest number of subtrees that a rank has.
  std::size_t max_subtrees() const { return max_subtrees_; }
  /// An upper bound for the rows that a rank has of a batch of `num_rows` rows.
  int64_t max_rows(int64_t num_rows) const;

 private:
  int64_t num_shards_;
  int64_t rank_;
  ShardRange mine_;
  std::vector<std::vector<ShardRange>> subtrees_;
  std::vector<ShardRange> all_;
  std::size_t max_subtrees_ = 0;
};

/// Sends part r of `in` to each rank r and receives part r of `out` from it, as MPI_Alltoallv. Both
/// are flat tensors on the device; the counts are the sizes of the parts in elements. All ranks
/// call it together.
using AllToAll =
    std::function<void(at::Tensor& out, at::Tensor& in, std::vector<int64_t>& out_counts,
                       std::vector<int64_t>& in_counts)>;

/// Adds gradients in the memory of an accelerator, in the tree of base/parallel/shard_tree.h.
/// `mine` has a flat float32 tensor of the size of `out` for each subtree of this rank; these
/// tensors do not change. Writes the sum over all shards, with the same bits on all ranks, to
/// `out`.
void sum_on_device(const Division& division, const AllToAll& all_to_all,
                   const std::vector<at::Tensor>& mine, at::Tensor out);

/// The group of processes that train a run together, for one of its processes. All of them call the
/// same functions in the same order; each throws Error(kLostProcess) if another process is lost. A
/// single process has a world of size 1, in which nothing is sent.
class World {
 public:
  /// Connects the accelerators of all ranks; `device` is that of this rank. Throws Error(kDevice).
  using ConnectDevices = std::function<AllToAll(c10::Device device)>;

  World() = default;
  World(int64_t rank, int64_t size, std::unique_ptr<Transport> transport,
        ConnectDevices connect_devices = nullptr);

  int64_t rank() const { return rank_; }
  int64_t size() const { return size_; }
  bool is_alone() const { return size_ == 1; }
  /// Whether this is the process that writes files and messages for users: rank 0.
  bool is_first() const { return rank_ == 0; }

  /// An all-gather: fills `all` `[size, mine.size()]` with the bytes of each rank. All ranks must
  /// give the same number of bytes.
  void gather(std::span<const std::byte> mine, std::span<std::byte> all,
              Patience patience = Patience::kForStep) const;

  /// Starts a gather(). finish() with the result waits for it; the memory is used until then.
  int64_t start_gather(std::span<const std::byte> mine, std::span<std::byte> all) const;

  /// A gather() with parts of different sizes: the part of rank r is the bytes [begins[r], begins[r
  /// + 1]) of `all`. This rank must have filled its own part.
  void gather_parts(std::span<std::byte> all, std::span<const std::size_t> begins) const;

  /// Returns the texts of all ranks, in the order of the ranks.
  std::vector<std::string> gather_texts(const std::string& mine,
                                        Patience patience = Patience::kForStep) const;

  /// Overwrites `bytes` on all other ranks with those of rank 0. The number must be the same on
  /// all.
  void broadcast(std::span<std::byte> bytes) const;

  /// Returns the text of rank 0 on all ranks; those of other ranks are ignored.
  std::string broadcast_text(const std::string& text) const;

  /// Starts to send and receive messages (Transport::start()).
  int64_t start(std::span<const Message> sent, std::span<const Message> received) const;

  /// Waits for this exchange and all that were started before.
  void finish(int64_t exchange, Patience patience = Patience::kForStep) const;

  /// Returns zeroed memory that is fast to send from (Transport::allocate()). All ranks call it
  /// together.
  std::shared_ptr<void> allocate(std::size_t num_bytes) const {
    return is_alone() ? Transport::make_memory(num_bytes) : transport_->allocate(num_bytes);
  }

  /// Connects the accelerators, so that gradients need not go through the memory of the CPU. All
  /// ranks call it together. Throws Error(kDevice) if that is not possible.
  void connect_devices(c10::Device device);

  /// Sends messages between accelerators; empty if they are not connected.
  const AllToAll& all_to_all() const { return all_to_all_; }

  /// The means of transport for the log (Transport::name()); empty for a single process.
  std::string transport_name() const { return is_alone() ? "" : transport_->name(); }

  /// The seconds that this rank has waited for others so far, in all functions together.
  double seconds_waited() const { return is_alone() ? 0 : transport_->seconds(); }

  /// Tells the other ranks why this one is about to end. Does not throw.
  void announce_failure(const std::string& why) const noexcept;

 private:
  /// Starts to send part_of(rank) of this rank to all others, and to receive their parts.
  template <class PartOf>
  int64_t start_parts(const PartOf& part_of) const;

  int64_t rank_ = 0;
  int64_t size_ = 1;
  std::unique_ptr<Transport> transport_;  // null for a single process
  ConnectDevices connect_devices_;
  AllToAll all_to_all_;
};

}  // namespace trainer::dist
