// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "trainer/base/error.h"
#include "trainer/base/time/stopwatch.h"

namespace trainer::dist {

/// Bytes to send to or to receive from another rank. An empty message is not transferred.
struct Message {
  int64_t rank = 0;
  void* data = nullptr;
  std::size_t num_bytes = 0;
  /// If not null in a received message, the transport may leave the bytes in the memory of the
  /// sender, and stores here where they are: there, or at `data`. They are valid as long as the
  /// sender does not change them.
  const void** view = nullptr;
};

/// Which time limit applies to waiting for other ranks: that for computing a step, or the longer
/// one for reading and checking the data before the first step.
enum class Patience { kForStep, kForStart };

/// Moves messages between the ranks of a run. Functions throw Error(kLostProcess), which names the
/// rank, if another rank has ended or does not answer.
class Transport {
 public:
  /// Returns zeroed memory of this process, aligned to 64 bytes. Pages that are never written need
  /// no physical memory. Throws std::bad_alloc.
  static std::shared_ptr<void> make_memory(std::size_t num_bytes);

  virtual ~Transport() = default;

  /// Starts to send and receive these messages. Their memory is used until the exchange is
  /// finished. What one rank sends, the other must receive: the same number of messages in the same
  /// order. Returns the number of the exchange, for finish().
  int64_t start(std::span<const Message> sent, std::span<const Message> received) {
    for (const Message& message : received) {
      if (message.view != nullptr) *message.view = message.data;
    }
    start_next(sent, received);
    return ++num_started_;
  }

  /// Waits until this exchange and all that were started before are complete.
  void finish(int64_t number, Patience patience) {
    const Stopwatch stopwatch;
    while (num_finished_ < number) {
      finish_oldest(patience);
      ++num_finished_;
    }
    seconds_ += stopwatch.seconds();
  }

  /// The seconds that finish() has taken so far: the time that the computation waited for messages.
  double seconds() const { return seconds_; }

  /// Starts an exchange and waits until it is complete.
  void exchange(std::span<const Message> sent, std::span<const Message> received,
                Patience patience) {
    finish(start(sent, received), patience);
  }

  /// Returns `num_bytes` zeroed bytes, aligned to 64 bytes. If possible, ranks of the same machine
  /// can read them without a copy. All ranks call it together. Throws std::bad_alloc.
  virtual std::shared_ptr<void> allocate(std::size_t num_bytes) { return make_memory(num_bytes); }

  /// The means of transport, for the log, such as "Gloo" or "shared memory".
  virtual std::string name() const = 0;

  /// Finds out which rank is lost, and returns an Error(kLostProcess) that names it and `reason`.
  virtual Error lost(const std::string& reason, Patience patience) = 0;

  /// Tells the other ranks that the process of `rank` has ended. Does not throw.
  virtual void mark_dead(int64_t rank) noexcept = 0;

  /// Tells the other ranks why this rank is about to end. Does not throw.
  virtual void announce_failure(const std::string& why) noexcept = 0;

 private:
  virtual void start_next(std::span<const Message> sent, std::span<const Message> received) = 0;
  virtual void finish_oldest(Patience patience) = 0;

  int64_t num_started_ = 0;
  int64_t num_finished_ = 0;
  double seconds_ = 0;
};

}  // namespace trainer::dist
