// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace trainer::dist {

/// Bytes for or from another rank. None are sent for an empty one.
struct Message {
  int64_t rank = 0;
  void* data = nullptr;
  std::size_t num_bytes = 0;
};

/// How long to wait for other ranks: for what they compute in a step, or for all that they read and
/// check before the first one.
enum class Patience { kForStep, kForStart };

/// Moves messages between the ranks of a run.
class Transport {
 public:
  virtual ~Transport() = default;

  /// Sends and receives these messages at the same time, and returns when all are complete. Two
  /// ranks exchange as many messages in the same order. Throws Error(kLostProcess) if another rank
  /// has ended or does not answer, naming it.
  virtual void exchange(std::span<const Message> sent, std::span<const Message> received,
                        Patience patience) = 0;

  /// Lets the other ranks know why this one ends, before it does. Does not throw.
  virtual void announce_failure(const std::string& why) noexcept = 0;
};

}  // namespace trainer::dist
