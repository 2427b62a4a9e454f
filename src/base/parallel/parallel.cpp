// SPDX-License-Identifier: Apache-2.0
// Only the calling thread takes items and gives results. So a source and an output need no locks, a
// signal interrupts their reads and writes, and an error is thrown at its position in the order of
// the items. When there is nothing to take or give, that thread works like all others. The slots
// are a ring: item i occupies slot i modulo the number of slots until it is given.
#include "trainer/base/parallel/parallel.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
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

namespace {

class Pipeline {
 public:
  Pipeline(int64_t num_threads, const PipelineStages& stages)
      : stages_(stages), results_(pipeline_slots(num_threads)) {
    threads_.reserve(static_cast<size_t>(num_threads));
    for (size_t thread = 1; thread < static_cast<size_t>(num_threads); ++thread) {
      try {
        threads_.emplace_back([this, thread] { serve(thread); });
      } catch (const std::system_error&) {
        break;  // the system has no more threads: those that were started do all the work
      }
    }
  }
  ~Pipeline() {
    {
      const std::lock_guard lock(mutex_);
      is_stopping_ = true;
    }
    has_items_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  void run() {
    while (true) {
      if (is_done(num_given_)) {
        if (!give()) return;
      } else if (has_more_ && num_taken_ - num_given_ < results_.size()) {
        take();
      } else if (num_given_ == num_taken_) {
        if (take_error_) std::rethrow_exception(take_error_);
        return;
      } else if (!work(0)) {
        wait_for(num_given_);
      }
    }
  }

 private:
  struct Result {
    bool is_done = false;
    std::exception_ptr error = nullptr;
  };

  size_t slot(size_t item) const { return item % results_.size(); }

  // Takes the next item. An exception is kept until all items before it were given.
  void take() {
    try {
      has_more_ = stages_.take(slot(num_taken_));
    } catch (...) {
      has_more_ = false;
      take_error_ = std::current_exception();
    }
    if (!has_more_) return;
    {
      const std::lock_guard lock(mutex_);
      ++num_taken_;
    }
    has_items_.notify_one();
  }

  /// Works on the next item; false if none is waiting.
  bool work(size_t thread) {
    std::unique_lock lock(mutex_);
    if (next_ == num_taken_) return false;
    const size_t slot_of_next = slot(next_++);
    lock.unlock();
    std::exception_ptr error;
    try {
      stages_.work(slot_of_next, thread);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    results_[slot_of_next] = {.is_done = true, .error = std::move(error)};
    lock.unlock();
    has_result_.notify_one();
    return true;
  }

  void serve(size_t thread) {
    while (true) {
      {
        std::unique_lock lock(mutex_);
        has_items_.wait(lock, [&] { return is_stopping_ || next_ < num_taken_; });
        if (is_stopping_) return;
      }
      work(thread);
    }
  }

  bool is_done(size_t item) {
    const std::lock_guard lock(mutex_);
    return item < num_taken_ && results_[slot(item)].is_done;
  }

  void wait_for(size_t item) {
    std::unique_lock lock(mutex_);
    has_result_.wait(lock, [&] { return results_[slot(item)].is_done; });
  }

  bool give() {
    // No lock is needed: once a result is done, no other thread uses it.
    const Result result = std::exchange(results_[slot(num_given_)], {});
    if (result.error) std::rethrow_exception(result.error);
    return stages_.give(slot(num_given_++));
  }

  const PipelineStages& stages_;
  std::vector<std::thread> threads_;
  // Used by the calling thread only.
  bool has_more_ = true;
  std::exception_ptr take_error_;
  size_t num_given_ = 0;
  // Guarded by the mutex; only the calling thread changes `num_taken_`.
  std::mutex mutex_;
  std::condition_variable has_items_;
  std::condition_variable has_result_;
  std::vector<Result> results_;  // [slots]
  size_t num_taken_ = 0;
  size_t next_ = 0;  // the next item to work on
  bool is_stopping_ = false;
};

}  // namespace

size_t pipeline_slots(int64_t num_threads) {
  return num_threads == 1 ? 1 : 2 * static_cast<size_t>(num_threads) + 2;
}

void run_pipeline(int64_t num_threads, const PipelineStages& stages) {
  Pipeline(num_threads, stages).run();
}

}  // namespace trainer
