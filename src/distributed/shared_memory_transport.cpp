// SPDX-License-Identifier: Apache-2.0
// Messages between the processes of one machine (neighbor.h). A process that waits spins for some
// microseconds, and then sleeps (futex) until a neighbor increments its bell. From time to time it
// checks that its neighbors still exist.
#include "distributed/shared_memory_transport.h"

#ifdef __linux__

#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <ctime>
#include <deque>
#include <set>
#include <span>
#include <utility>

#include <linux/futex.h>

#include "trainer/base/parallel/cpus.h"
#include "trainer/base/parallel/spin.h"
#include "trainer/base/time/stopwatch.h"
#include "trainer/distributed/rank_text.h"

#include "distributed/neighbor.h"

namespace trainer::dist {
namespace {

constexpr int kSpinLimit = 2000;  // about twenty microseconds
constexpr int64_t kSleepNanoseconds = 10'000'000;

class SharedMemoryTransport : public Transport {
 public:
  SharedMemoryTransport(std::unique_ptr<Transport> network, OwnMemory mine,
                        std::vector<Neighbor> neighbors, int64_t num_ranks,
                        const JoinOptions& options)
      : network_(std::move(network)),
        mine_(std::move(mine)),
        neighbors_(std::move(neighbors)),
        of_rank_(static_cast<std::size_t>(num_ranks), nullptr),
        timeout_(options.timeout),
        start_timeout_(options.start_timeout) {
    for (Neighbor& neighbor : neighbors_) {
      of_rank_[static_cast<std::size_t>(neighbor.rank())] = &neighbor;
    }
  }

  std::string name() const override {
    const bool has_others = std::ssize(neighbors_) + 1 < std::ssize(of_rank_);
    return has_others ? "shared memory, " + network_->name() + " between machines"
                      : "shared memory";
  }

  Error lost(const std::string& reason, Patience patience) override {
    for (const Neighbor& neighbor : neighbors_) {
      if (neighbor.has_ended()) network_->mark_dead(neighbor.rank());
    }
    give_up();
    return network_->lost(reason, patience);
  }

  void mark_dead(int64_t rank) noexcept override { network_->mark_dead(rank); }

  void announce_failure(const std::string& why) noexcept override {
    give_up();
    network_->announce_failure(why);
  }

  // Blocks are kept and reused, because neighbors have mapped them. Memory is allocated for steps,
  // so waits are short from now on: spin_limit_ is set if each process can have a CPU.
  std::shared_ptr<void> allocate(std::size_t num_bytes) override {
    spin_limit_ = std::ssize(neighbors_) < usable_cpus() ? kSpinLimit : 0;
    BlockNotice notice;
    while (notice.index < mine_.blocks.size() && !can_use(mine_.blocks[notice.index], num_bytes)) {
      ++notice.index;
    }
    if (notice.index < mine_.blocks.size()) {
      std::memset(mine_.blocks[notice.index].block->memory.data(), 0, num_bytes);
    } else if (Block block = make_block(num_bytes); block.is_mapped()) {
      mine_.blocks.push_back({std::make_shared<Block>(std::move(block)), num_bytes});
    }
    const bool is_there = notice.index < mine_.blocks.size();
    if (is_there) {
      notice.num_bytes = mine_.blocks[notice.index].num_bytes;
      notice.file = mine_.blocks[notice.index].block->file.get();
    }
    std::vector<BlockNotice> notices(neighbors_.size(), notice);
    tell(notices);
    std::vector<char> seen;
    for (std::size_t i = 0; i < neighbors_.size(); ++i) {
      const BlockNotice& theirs = notices[i];
      seen.push_back(neighbors_[i].open_block(theirs.index, theirs.file, theirs.num_bytes) ? 1 : 0);
    }
    tell(seen);
    if (!is_there) return make_memory(num_bytes);
    for (std::size_t i = 0; i < neighbors_.size(); ++i) {
      if (seen[i] != 0) neighbors_[i].sees_block(notice.index);
    }
    const std::shared_ptr<Block>& block = mine_.blocks[notice.index].block;
    return {block, block->memory.data()};
  }

 private:
  struct BlockNotice {
    std::size_t index = 0;      // index among the blocks of the process
    std::size_t num_bytes = 0;  // 0: the process could not make a block
    int file = -1;
  };

  struct Exchange {
    int64_t num_messages = 0;  // incomplete messages
    int64_t on_network = 0;
  };

  // Tells neighbors not to wait for this process any longer.
  void give_up() const noexcept {
    mine_.region.desk().has_given_up.store(1);
    for (const Neighbor& neighbor : neighbors_) neighbor.ring_bell();
  }

  static bool can_use(const SharedBlock& block, std::size_t num_bytes) {
    return block.block.use_count() == 1 && block.num_bytes >= num_bytes;
  }

  // Sends values[i] to neighbor i, and replaces it by the value that the neighbor sends.
  template <class Value>
  void tell(std::vector<Value>& values) {
    std::vector<Value> mine = values;
    std::vector<Message> sent;
    std::vector<Message> received;
    for (std::size_t i = 0; i < neighbors_.size(); ++i) {
      const auto message = [&](Value& value) {
        return Message{.rank = neighbors_[i].rank(), .data = &value, .num_bytes = sizeof(Value)};
      };
      sent.push_back(message(mine[i]));
      received.push_back(message(values[i]));
    }
    exchange(sent, received, Patience::kForStart);
  }

  void start_next(std::span<const Message> sent, std::span<const Message> received) override {
    Exchange& exchange = exchanges_.emplace_back();
    const int64_t number = first_exchange_ + std::ssize(exchanges_) - 1;
    const auto queue = [&](std::span<const Message> messages,
                           void (Neighbor::*add)(const Message&, int64_t)) {
      std::vector<Message> far;
      for (const Message& message : messages) {
        Neighbor* neighbor = of_rank_[static_cast<std::size_t>(message.rank)];
        if (neighbor == nullptr) {
          far.push_back(message);
        } else if (message.num_bytes > 0) {
          (neighbor->*add)(message, number);
          ++exchange.num_messages;
        }
      }
      return far;
    };
    const std::vector<Message> far_sent = queue(sent, &Neighbor::add_sent);
    const std::vector<Message> far_received = queue(received, &Neighbor::add_received);
    // Started even without messages, because the network counts exchanges, and all ranks must
    // agree.
    exchange.on_network = network_->start(far_sent, far_received);
    progress();
  }

  void finish_oldest(Patience patience) override {
    const Exchange& exchange = exchanges_.front();
    const Stopwatch stopwatch;
    while (exchange.num_messages > 0) {
      const uint32_t bell = mine_.region.desk().bell.load(std::memory_order_acquire);
      if (progress() || wait(bell)) continue;
      require_neighbors(patience, stopwatch);
    }
    network_->finish(exchange.on_network, patience);
    exchanges_.pop_front();
    ++first_exchange_;
  }

  // Moves as many bytes as possible without waiting, and returns whether it moved any.
  bool progress() {
    bool has_moved = false;
    complete_.clear();
    for (Neighbor& neighbor : neighbors_) {
      has_moved = neighbor.progress(mine_, complete_) || has_moved;
    }
    for (const int64_t exchange : complete_) {
      --exchanges_[static_cast<std::size_t>(exchange - first_exchange_)].num_messages;
    }
    return has_moved;
  }

  // Waits for a limited time until the bell differs from `bell`. Returns whether it does.
  bool wait(uint32_t bell) const {
    Desk& desk = mine_.region.desk();
    for (int i = 0; i < spin_limit_; ++i) {
      if (desk.bell.load(std::memory_order_acquire) != bell) return true;
      pause_spinning();
    }
    desk.is_asleep.store(1);
    const timespec limit{.tv_sec = 0, .tv_nsec = kSleepNanoseconds};
    ::syscall(SYS_futex, &desk.bell, FUTEX_WAIT, bell, &limit, nullptr, 0);
    desk.is_asleep.store(0);
    return desk.bell.load(std::memory_order_acquire) != bell;
  }

  void require_neighbors(Patience patience, const Stopwatch& stopwatch) {
    for (const Neighbor& neighbor : neighbors_) {
      // The neighbor may have sent messages before it ended, so progress() is tried first.
      if (neighbor.is_awaited() && (neighbor.has_ended() || neighbor.has_given_up()) &&
          !progress()) {
        throw lost("a process of this machine has ended", patience);
      }
    }
    const auto limit = patience == Patience::kForStep ? timeout_ : start_timeout_;
    if (stopwatch.seconds() > std::chrono::duration<double>(limit).count()) {
      throw lost(no_answer_within(limit), patience);
    }
  }

  std::unique_ptr<Transport> network_;
  OwnMemory mine_;
  std::vector<Neighbor> neighbors_;
  std::vector<Neighbor*> of_rank_;  // neighbor of each rank; null: on another machine
  int spin_limit_ = 0;
  std::chrono::milliseconds timeout_;
  std::chrono::milliseconds start_timeout_;
  std::deque<Exchange> exchanges_;  // the exchanges that are not finished
  int64_t first_exchange_ = 0;      // number of the oldest of them
  std::vector<int64_t> complete_;
};

}  // namespace

std::unique_ptr<Transport> with_shared_memory(std::unique_ptr<Transport> network,
                                              const Notices& notices, const JoinOptions& options) {
  const std::vector<std::string>& hosts = notices.hosts;
  const std::set<std::string> machines(hosts.begin(), hosts.end());
  if (machines.size() == hosts.size()) return network;
  const auto num_ranks = std::ssize(hosts);
  const std::string& host = hosts[static_cast<std::size_t>(notices.rank)];
  OwnMemory mine;
  std::vector<Neighbor> neighbors;
  std::size_t num_processes = 0;
  for (int64_t r = 0; r < num_ranks; ++r) {
    if (hosts[static_cast<std::size_t>(r)] != host) continue;
    if (r == notices.rank) {
      mine.index = num_processes;
    } else {
      neighbors.emplace_back(r, num_processes);
    }
    ++num_processes;
  }
  mine.layout = layout_for(num_processes);
  if (options.shares_memory) mine.region = make_region(mine.layout);
  notices.publish(notice_of(mine.region));
  bool sees_all = mine.region.is_mapped();
  for (int64_t r = 0; r < num_ranks; ++r) {
    const std::string notice = notices.read(r);
    for (Neighbor& neighbor : neighbors) {
      if (neighbor.rank() == r) sees_all = neighbor.open(notice, mine.layout) && sees_all;
    }
  }
  notices.publish(sees_all ? "yes" : "no");
  bool all_see_all = true;
  for (int64_t r = 0; r < num_ranks; ++r) all_see_all = notices.read(r) == "yes" && all_see_all;
  if (!all_see_all) return network;
  return std::make_unique<SharedMemoryTransport>(std::move(network), std::move(mine),
                                                 std::move(neighbors), num_ranks, options);
}

}  // namespace trainer::dist

#else

namespace trainer::dist {

std::unique_ptr<Transport> with_shared_memory(std::unique_ptr<Transport> network,
                                              const Notices& /*notices*/,
                                              const JoinOptions& /*options*/) {
  return network;
}

}  // namespace trainer::dist

#endif
