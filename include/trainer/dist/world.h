// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <c10/core/Device.h>

#include "trainer/dist/device_reduction.h"
#include "trainer/dist/transport.h"

namespace trainer::dist {

/// The processes that train a run together, as one of them sees it. All of them call the same
/// functions in the same order; each throws Error(kLostProcess) if another one is lost. A process
/// alone has a world too, in which nothing is sent.
class World {
 public:
  /// Connects the accelerators of all ranks, of which this one has `device`. Throws Error(kDevice).
  using ConnectDevices = std::function<AllToAll(c10::Device device)>;

  World() = default;
  World(int64_t rank, int64_t size, std::unique_ptr<Transport> transport,
        ConnectDevices connect_devices = nullptr);

  int64_t rank() const { return rank_; }
  int64_t size() const { return size_; }
  bool is_alone() const { return size_ == 1; }
  /// Whether this is the process that writes files and speaks to people.
  bool is_first() const { return rank_ == 0; }

  /// Fills `all`, `[size, mine.size()]`, with what each rank gives. All give as many bytes.
  void gather(std::span<const std::byte> mine, std::span<std::byte> all,
              Patience patience = Patience::kForStep) const;

  /// Begins to do so; finish() of the result waits for it.
  int64_t start_gather(std::span<const std::byte> mine, std::span<std::byte> all) const;

  /// The same as gather() for parts of `all` that begin at bytes `begins`, `[size + 1]`, of which
  /// this rank fills its own before.
  void gather_parts(std::span<std::byte> all, std::span<const std::size_t> begins) const;

  /// The text of each rank.
  std::vector<std::string> gather_texts(const std::string& mine,
                                        Patience patience = Patience::kForStep) const;

  /// Overwrites the bytes of all other ranks with those of rank 0.
  void broadcast(std::span<std::byte> bytes) const;

  /// The text of rank 0.
  std::string broadcast_text(const std::string& text) const;

  /// Begins to send and receive messages (Transport::start()).
  int64_t start(std::span<const Message> sent, std::span<const Message> received) const;

  /// Waits for that exchange and all that were started before.
  void finish(int64_t exchange, Patience patience = Patience::kForStep) const;

  /// Memory for messages (Transport::allocate()).
  std::shared_ptr<void> allocate(std::size_t num_bytes) const {
    return is_alone() ? Transport::make_memory(num_bytes) : transport_->allocate(num_bytes);
  }

  /// Connects the accelerators, so that gradients need not go through the memory of the CPU. All
  /// ranks call it together. Throws Error(kDevice) if that is not possible.
  void connect_devices(c10::Device device);

  /// Messages between accelerators; empty if they are not connected.
  const AllToAll& all_to_all() const { return all_to_all_; }

  /// What the messages go by, for people.
  std::string transport_name() const { return is_alone() ? "" : transport_->name(); }

  /// How long this rank has waited for others so far, in all functions together.
  double seconds_waited() const { return is_alone() ? 0 : transport_->seconds(); }

  /// Lets the other ranks know why this one ends. Does not throw.
  void announce_failure(const std::string& why) const noexcept;

 private:
  /// Sends the part of this rank, part_of(rank), to all others, and receives theirs.
  template <class PartOf>
  int64_t start_parts(const PartOf& part_of) const;

  int64_t rank_ = 0;
  int64_t size_ = 1;
  std::unique_ptr<Transport> transport_;  // none if alone
  ConnectDevices connect_devices_;
  AllToAll all_to_all_;
};

}  // namespace trainer::dist
