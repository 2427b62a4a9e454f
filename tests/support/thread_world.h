// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "trainer/base/error.h"
#include "trainer/distributed/world.h"

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

  std::string name() const override { return "a mailbox"; }

  Error lost(const std::string& reason, dist::Patience /*patience*/) override {
    return {ErrorKind::kLostProcess, reason};
  }

  void mark_dead(int64_t /*rank*/) noexcept override {}

  void announce_failure(const std::string& /*why*/) noexcept override {}

 private:
  void start_next(std::span<const dist::Message> sent,
                  std::span<const dist::Message> received) override {
    for (const dist::Message& message : sent) {
      const auto* data = static_cast<const std::byte*>(message.data);
      mailbox_->put(rank_, message.rank, {data, data + message.num_bytes});
    }
    pending_.emplace_back(received.begin(), received.end());
  }

  void finish_oldest(dist::Patience /*patience*/) override {
    for (const dist::Message& message : pending_.front()) {
      const std::vector<std::byte> bytes = mailbox_->take(message.rank, rank_);
      if (bytes.size() != message.num_bytes) {
        throw Error(ErrorKind::kRuntime, "a message has another size than expected");
      }
      std::copy(bytes.begin(), bytes.end(), static_cast<std::byte*>(message.data));
    }
    pending_.pop_front();
  }

  int64_t rank_;
  std::shared_ptr<Mailbox> mailbox_;
  std::deque<std::vector<dist::Message>> pending_;  // what the exchanges that are under way receive
};

/// What NCCL does between accelerators.
inline dist::AllToAll all_to_all_by(const std::shared_ptr<Mailbox>& mailbox, int64_t rank,
                                    int64_t size) {
  return [mailbox, rank, size](at::Tensor& out, at::Tensor& in, std::vector<int64_t>& out_counts,
                               std::vector<int64_t>& in_counts) {
    const auto* from = static_cast<const std::byte*>(in.data_ptr());
    for (int64_t r = 0; r < size; ++r) {
      const auto num_bytes = in_counts[static_cast<std::size_t>(r)] * in.element_size();
      mailbox->put(rank, r, {from, from + num_bytes});
      from += num_bytes;
    }
    auto* to = static_cast<std::byte*>(out.data_ptr());
    for (int64_t r = 0; r < size; ++r) {
      const std::vector<std::byte> part = mailbox->take(r, rank);
      const auto expected = out_counts[static_cast<std::size_t>(r)] * out.element_size();
      if (std::ssize(part) != expected) {
        throw Error(ErrorKind::kRuntime, "a part has another size than expected");
      }
      to = std::copy(part.begin(), part.end(), to);
    }
  };
}

/// Makes another transport of that of a rank.
using Wrap = std::function<std::unique_ptr<dist::Transport>(
    std::unique_ptr<dist::Transport> transport, int64_t rank)>;

/// Calls body(world) on a thread for each of `size` ranks, and rethrows the first error. Returns
/// the bytes that all of them sent by the mailbox.
inline std::size_t run_world(int64_t size,
                             const std::function<void(const std::shared_ptr<dist::World>&)>& body,
                             const Wrap& wrap = nullptr) {
  const auto mailbox = std::make_shared<Mailbox>();
  std::vector<std::thread> threads;
  std::mutex mutex;
  std::exception_ptr failure;
  for (int64_t rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        if (size == 1) return body(std::make_shared<dist::World>());
        std::unique_ptr<dist::Transport> transport =
            std::make_unique<ThreadTransport>(rank, mailbox);
        if (wrap) transport = wrap(std::move(transport), rank);
        body(std::make_shared<dist::World>(
            rank, size, std::move(transport),
            [&mailbox, rank, size](c10::Device) { return all_to_all_by(mailbox, rank, size); }));
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
