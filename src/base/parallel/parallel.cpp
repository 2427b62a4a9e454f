// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/parallel/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "trainer/base/parallel/cpus.h"
#include "trainer/base/time/long_work.h"

namespace trainer {
namespace {

/// Calls of `body` that several threads make. They begin in ascending order until one throws, so
/// that all calls below the first one that throws are made.
class Calls {
 public:
  Calls(size_t count, FunctionRef<void(size_t)> body)
      : count_(count), failed_(count), body_(body) {}

  /// Makes calls until none is left or one has thrown. With a `name`, reports the progress of all
  /// threads after each call.
  void work(std::string_view name = {}) {
    while (!has_failed_) {
      const size_t i = next_++;
      if (i >= count_) return;
      try {
        body_(i);
      } catch (...) {
        fail(i, std::current_exception());
      }
      if (!name.empty()) report_long_work(name, part_begun());
    }
  }

  /// Throws the exception of the lowest call that threw. Call it when all threads have ended.
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  double part_begun() const {
    return static_cast<double>(std::min(next_.load(), count_)) / static_cast<double>(count_ + 1);
  }

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
  size_t failed_;             // the lowest call that threw; guarded by the mutex
  std::exception_ptr error_;  // its exception; guarded by the mutex
  FunctionRef<void(size_t)> body_;
};

class Threads {
 public:
  Threads(size_t count, Calls& calls) {
    threads_.reserve(count);
    while (threads_.size() < count && start(calls)) {
    }
  }
  ~Threads() {
    for (std::thread& thread : threads_) thread.join();
  }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  /// False if the system has no more threads: those that were started make all calls.
  bool start(Calls& calls) {
    try {
      threads_.emplace_back([&calls] { calls.work(); });
      return true;
    } catch (const std::system_error&) {
      return false;
    }
  }

  std::vector<std::thread> threads_;
};

}  // namespace

void parallel_for(size_t count, FunctionRef<void(size_t)> body, std::string_view name) {
  if (count == 0) return;
  Calls calls(count, body);
  {
    const LongWork work(name);
    const Threads others(std::min(count, static_cast<size_t>(usable_cpus())) - 1, calls);
    calls.work(name);
  }
  calls.rethrow();
}

void parallel_for_ranges(size_t size, size_t step, FunctionRef<void(size_t, size_t)> body,
                         std::string_view name) {
  parallel_for((size + step - 1) / step,
               [&](size_t i) { body(i * step, std::min(size, (i + 1) * step)); }, name);
}

}  // namespace trainer
