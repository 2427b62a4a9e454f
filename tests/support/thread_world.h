// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "trainer/core/error.h"
#include "trainer/dist/world.h"

namespace trainer::test {

/// Messages between threads that stand for the ranks of a run.
class Mailbox {
 public:
  void put(int64_t from, int64_t to, std::vector<std::byte> message) {
    const std::lock_guard lock(mutex_);
    num_bytes_ += message.size();
    messages_[{from, to}].push_back(std::move(message));
    changed_.notify_all();
  }

  std::vector<std::byte> take(int64_t from, int64_t to) {
    std::unique_lock lock(mutex_);
    std::deque<std::vector<std::byte>>& queue = messages_[{from, to}];
    changed_.wait(lock, [&] { return is_closed_ || !queue.empty(); });
    if (queue.empty()) throw Error(ErrorKind::kLostProcess, "another rank has ended");
    std::vector<std::byte> message = std::move(queue.front());
    queue.pop_front();
    return message;
  }

  /// Wakes all ranks that wait for one that has failed.
  void close() {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
    changed_.notify_all();
  }

  std::size_t num_bytes() const { return num_bytes_; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::pair<int64_t, int64_t>, std::deque<std::vector<std::byte>>> messages_;
  std::size_t num_bytes_ = 0;
  bool is_closed_ = false;
};

class ThreadTransport : public dist::Transport {
 public:
  ThreadTransport(int64_t rank, std::shared_ptr<Mailbox> mailbox)
      : rank_(rank), mailbox_(std::move(mailbox)) {}

  void exchange(std::span<const dist::Message> sent, std::span<const dist::Message> received,
                dist::Patience /*patience*/) override {
    for (const dist::Message& message : sent) {
      const auto* data = static_cast<const std::byte*>(message.data);
      mailbox_->put(rank_, message.rank, {data, data + message.num_bytes});
    }
    for (const dist::Message& message : received) {
      const std::vector<std::byte> bytes = mailbox_->take(message.rank, rank_);
      if (bytes.size() != message.num_bytes) {
        throw Error(ErrorKind::kRuntime, "a message has another size than expected");
      }
      std::memcpy(message.data, bytes.data(), bytes.size());
    }
  }

  void announce_failure(const std::string& /*why*/) noexcept override {}

 private:
  int64_t rank_;
  std::shared_ptr<Mailbox> mailbox_;
};

/// Calls body(world) on a thread for each of `size` ranks, and rethrows the first error. Returns
/// the bytes that all of them sent.
inline std::size_t run_world(int64_t size,
                             const std::function<void(const std::shared_ptr<dist::World>&)>& body) {
  const auto mailbox = std::make_shared<Mailbox>();
  std::vector<std::thread> threads;
  std::mutex mutex;
  std::exception_ptr failure;
  for (int64_t rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        body(size == 1 ? std::make_shared<dist::World>()
                       : std::make_shared<dist::World>(
                             rank, size, std::make_unique<ThreadTransport>(rank, mailbox)));
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
        mailbox->close();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
  return mailbox->num_bytes();
}

}  // namespace trainer::test
