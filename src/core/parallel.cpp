// SPDX-License-Identifier: Apache-2.0
#include "trainer/core/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "trainer/core/cpus.h"

namespace trainer {
namespace {

/// Calls that several threads make. They begin in ascending order until one has thrown, so none
/// below that one is left out.
class Calls {
 public:
  Calls(size_t count, FunctionRef<void(size_t)> body)
      : count_(count), failed_(count), body_(body) {}

  void work() {
    while (!has_failed_) {
      const size_t i = next_++;
      if (i >= count_) return;
      try {
        body_(i);
      } catch (...) {
        fail(i, std::current_exception());
      }
    }
  }

  /// When no thread works any more.
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void fail(size_t i, std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    has_failed_ = true;
    if (i > failed_) return;
    failed_ = i;
    error_ = std::move(error);
  }

  size_t count_;
  std::atomic<size_t> next_ = 0;
  std::atomic<bool> has_failed_ = false;
  std::mutex mutex_;
  size_t failed_;  // guarded, as the next one
  std::exception_ptr error_;
  FunctionRef<void(size_t)> body_;
};

class Threads {
 public:
  Threads(size_t count, Calls& calls) {
    threads_.reserve(count);
    try {
      while (threads_.size() < count) threads_.emplace_back([&calls] { calls.work(); });
    } catch (const std::system_error&) {
      // The system has no more: those that there are do all.
    }
  }
  ~Threads() {
    for (std::thread& thread : threads_) thread.join();
  }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  std::vector<std::thread> threads_;
};

}  // namespace

void parallel_for(size_t count, FunctionRef<void(size_t)> body) {
  const size_t num_threads =
      count < 2 ? count : std::min(count, static_cast<size_t>(usable_cpus()));
  if (num_threads < 2) {
    for (size_t i = 0; i < count; ++i) body(i);
    return;
  }
  Calls calls(count, body);
  {
    const Threads others(num_threads - 1, calls);
    calls.work();
  }
  calls.rethrow();
}

void parallel_for_ranges(size_t size, size_t step, FunctionRef<void(size_t, size_t)> body) {
  parallel_for((size + step - 1) / step,
               [&](size_t i) { body(i * step, std::min(size, (i + 1) * step)); });
}

}  // namespace trainer
