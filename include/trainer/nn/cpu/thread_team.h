// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "trainer/base/function_ref.h"

namespace trainer::cpu {

/// The calling thread and `num_threads - 1` workers, which run the same function together and sleep
/// between two calls. A waiting thread spins for a few microseconds before it sleeps, so that a
/// machine with other work loses little; with more threads than CPUs it sleeps immediately. Within
/// run(), subnormal numbers count as zero: the moments of weights whose gradient has vanished would
/// become subnormal, which makes arithmetic many times slower.
class ThreadTeam {
 public:
  explicit ThreadTeam(int64_t num_threads);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  int64_t num_threads() const { return num_threads_; }

  /// Calls body(thread) on every thread, with indices in [0, num_threads), and waits for all of
  /// them. The body must not throw, and all threads must make the same calls of the functions
  /// below.
  void run(FunctionRef<void(int64_t)> body);

  /// Within run(): calls body(i) once for each i in [0, count), on whichever thread is free. When
  /// all calls have returned, one thread calls last(); then all threads continue.
  template <class Body, class Last>
  void parallel_for(int64_t thread, int64_t count, const Body& body, const Last& last) {
    parallel_for_nowait(thread, count, body);
    if (num_threads_ == 1) {
      last();
    } else {
      barrier(last);
    }
  }

  /// The same without a last step: all threads continue when all calls have returned.
  template <class Body>
  void parallel_for(int64_t thread, int64_t count, const Body& body) {
    parallel_for(thread, count, body, [] {});
  }

  /// Does the same without waiting for the other threads, as OpenMP's `nowait`. May only be the
  /// last call in a run().
  template <class Body>
  void parallel_for_nowait(int64_t thread, int64_t count, const Body& body) {
    if (num_threads_ == 1) {
      for (int64_t i = 0; i < count; ++i) body(i);
      return;
    }
    // The first iteration of each thread is fixed, so it needs no counter.
    if (thread < count) body(thread);
    if (count <= num_threads_) return;
    while (true) {
      const int64_t i = num_threads_ + next_.fetch_add(1, std::memory_order_relaxed);
      if (i >= count) return;
      body(i);
    }
  }

 private:
  void work(int64_t thread);
  void join();
  void wait_while(const std::atomic<uint32_t>& value, uint32_t old) const;

  // The thread that arrives last calls last() and releases the others.
  template <class Last>
  void barrier(const Last& last) {
    const uint32_t epoch = barrier_epoch_.load(std::memory_order_relaxed);
    if (num_arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 < num_threads_) {
      wait_while(barrier_epoch_, epoch);
      return;
    }
    num_arrived_.store(0, std::memory_order_relaxed);
    next_.store(0, std::memory_order_relaxed);
    last();
    barrier_epoch_.store(epoch + 1, std::memory_order_release);
    barrier_epoch_.notify_all();
  }

  int64_t num_threads_;
  int spin_limit_;  // checks before a waiting thread sleeps
  const FunctionRef<void(int64_t)>* body_ = nullptr;
  bool is_stopping_ = false;
  // Variables that change together share a cache line: it has to travel between the CPUs.
  alignas(64) std::atomic<uint32_t> run_epoch_{0};
  alignas(64) std::atomic<uint32_t> barrier_epoch_{0};
  std::atomic<int64_t> num_arrived_{0};
  alignas(64) std::atomic<int64_t> next_{0};
  std::vector<std::thread> threads_;
};

}  // namespace trainer::cpu
