// SPDX-License-Identifier: Apache-2.0
// Only the calling thread takes items and gives results. So a source and an output need no locks, a
// signal interrupts their reads and writes, and an error is thrown at its position in the order of
// the items. When there is nothing to take or give, that thread works like all others. The slots
// are a ring: item i occupies slot i modulo the number of slots until it is given.
#include "trainer/base/parallel/ordered_pipeline.h"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace trainer {
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
