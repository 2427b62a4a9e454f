// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "trainer/core/error.h"
#include "trainer/core/stopwatch.h"

namespace trainer::dist {

/// Bytes for or from another rank. None are sent for an empty one.
struct Message {
  int64_t rank = 0;
  void* data = nullptr;
  std::size_t num_bytes = 0;
  /// Of a received one, if not null: where the bytes are afterwards, which may be the memory of the
  /// sender in place of `data`. There they stay as long as the sender does not change them.
  const void** view = nullptr;
};

/// How long to wait for other ranks: for what they compute in a step, or for all that they read and
/// check before the first one.
enum class Patience { kForStep, kForStart };

/// Moves messages between the ranks of a run. Functions throw Error(kLostProcess) if another rank
/// has ended or does not answer, naming it.
class Transport {
 public:
  /// Zeroed memory of this process, aligned to 64 bytes. What is never written takes none. Throws
  /// std::bad_alloc.
  static std::shared_ptr<void> make_memory(std::size_t num_bytes);

  virtual ~Transport() = default;

  /// Begins to send and receive these messages, whose memory is used until they are finished. Two
  /// ranks exchange as many messages in the same order. Returns the number of the exchange.
  int64_t start(std::span<const Message> sent, std::span<const Message> received) {
    for (const Message& message : received) {
      if (message.view != nullptr) *message.view = message.data;
    }
    start_next(sent, received);
    return ++num_started_;
  }

  /// Returns when this exchange and all that were started before are complete.
  void finish(int64_t number, Patience patience) {
    const Stopwatch stopwatch;
    while (num_finished_ < number) {
      finish_oldest(patience);
      ++num_finished_;
    }
    seconds_ += stopwatch.seconds();
  }

  /// How long finish() has taken so far: what the computation had to wait for.
  double seconds() const { return seconds_; }

  /// Both: returns when the messages are complete.
  void exchange(std::span<const Message> sent, std::span<const Message> received,
                Patience patience) {
    finish(start(sent, received), patience);
  }

  /// `num_bytes` zeroed bytes, aligned to 64, which ranks of the same machine can read where they
  /// are. All ranks call it together. Throws std::bad_alloc.
  virtual std::shared_ptr<void> allocate(std::size_t num_bytes) { return make_memory(num_bytes); }

  /// What the messages go by, for people.
  virtual std::string name() const = 0;

  /// The error of a rank that cannot go on because of another one, naming that.
  virtual Error lost(const std::string& reason, Patience patience) = 0;

  /// Lets the other ranks know that the process of a rank has ended. Does not throw.
  virtual void mark_dead(int64_t rank) noexcept = 0;

  /// Lets the other ranks know why this one ends, before it does. Does not throw.
  virtual void announce_failure(const std::string& why) noexcept = 0;

 private:
  virtual void start_next(std::span<const Message> sent, std::span<const Message> received) = 0;
  virtual void finish_oldest(Patience patience) = 0;

  int64_t num_started_ = 0;
  int64_t num_finished_ = 0;
  double seconds_ = 0;
};

}  // namespace trainer::dist
