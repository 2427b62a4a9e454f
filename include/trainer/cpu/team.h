// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "trainer/core/function_ref.h"

namespace trainer::cpu {

/// Threads that go through the same function together: the caller and `num_threads - 1` others,
/// which sleep between two calls. A thread that has to wait looks for a few microseconds and then
/// sleeps, so that a machine with other work loses little; it sleeps at once where there are more
/// threads than CPUs. Within run(), subnormal numbers count as zero: the moments of weights whose
/// gradient has vanished would become subnormal, and arithmetic many times slower.
class Team {
 public:
  explicit Team(int64_t num_threads);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int64_t num_threads() const { return num_threads_; }

  /// Calls body(index) on every thread, with indices [0, num_threads), and waits for all. The body
  /// must not throw, and all threads must come to the same calls below.
  void run(FunctionRef<void(int64_t)> body);

  /// Within run(), on thread `index`: calls body(i) once for each i in [0, count), by whichever
  /// thread is free. Then one thread calls last(), and all go on.
  template <class Body, class Last>
  void share(int64_t index, int64_t count, const Body& body, const Last& last) {
    share_at_the_end(index, count, body);
    if (num_threads_ == 1) {
      last();
    } else {
      meet(last);
    }
  }

  template <class Body>
  void share(int64_t index, int64_t count, const Body& body) {
    share(index, count, body, [] {});
  }

  /// The same without waiting for the others: the last thing within a run().
  template <class Body>
  void share_at_the_end(int64_t index, int64_t count, const Body& body) {
    if (num_threads_ == 1) {
      for (int64_t i = 0; i < count; ++i) body(i);
      return;
    }
    // Each thread has a first part of its own, which nobody has to count.
    if (index < count) body(index);
    if (count <= num_threads_) return;
    while (true) {
      const int64_t i = num_threads_ + next_.fetch_add(1, std::memory_order_relaxed);
      if (i >= count) return;
      body(i);
    }
  }

 private:
  void work(int64_t index);
  void end();
  void wait_while(const std::atomic<uint32_t>& value, uint32_t old) const;

  // The last of all threads calls last() and lets the others go on.
  template <class Last>
  void meet(const Last& last) {
    const uint32_t meeting = meetings_.load(std::memory_order_relaxed);
    if (num_arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 < num_threads_) {
      wait_while(meetings_, meeting);
      return;
    }
    num_arrived_.store(0, std::memory_order_relaxed);
    next_.store(0, std::memory_order_relaxed);
    last();
    meetings_.store(meeting + 1, std::memory_order_release);
    meetings_.notify_all();
  }

  int64_t num_threads_;
  int num_looks_;  // before a waiting thread sleeps
  const FunctionRef<void(int64_t)>* body_ = nullptr;
  bool ends_ = false;
  // What changes together shares a cache line: it has to travel between the CPUs.
  alignas(64) std::atomic<uint32_t> calls_{0};
  alignas(64) std::atomic<uint32_t> meetings_{0};
  std::atomic<int64_t> num_arrived_{0};
  alignas(64) std::atomic<int64_t> next_{0};
  std::vector<std::thread> threads_;
};

}  // namespace trainer::cpu
