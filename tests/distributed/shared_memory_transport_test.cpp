// SPDX-License-Identifier: Apache-2.0
// Threads stand for processes: they map each other's memory in the same way.
#include "distributed/shared_memory_transport.h"

#ifdef __linux__

#include <chrono>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/distributed/reduction.h"

#include "support/thread_world.h"

namespace trainer::dist {
namespace {

using std::chrono::milliseconds;

/// What ranks publish, and others wait for.
class Board {
 public:
  void publish(int64_t rank, const std::string& text) {
    const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
    for (int64_t to = 0; to < size_; ++to) mailbox_.put(rank, to, {bytes, bytes + text.size()});
  }
  std::string read(int64_t from, int64_t rank) {
    const std::vector<std::byte> bytes = mailbox_.take(from, rank);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  explicit Board(int64_t size) : size_(size) {}

 private:
  int64_t size_;
  test::Mailbox mailbox_;
};

JoinOptions options_with(bool shares_memory, milliseconds timeout = milliseconds(20'000)) {
  JoinOptions options;
  options.shares_memory = shares_memory;
  options.timeout = timeout;
  options.start_timeout = milliseconds(20'000);
  return options;
}

// Ranks on these machines; `change` is applied to what each of them publishes.
std::size_t run_on(const std::vector<std::string>& hosts,
                   const std::function<void(const std::shared_ptr<World>&)>& body,
                   const JoinOptions& options = options_with(true),
                   const std::function<std::string(std::string)>& change = nullptr) {
  Board board(std::ssize(hosts));
  return test::run_world(
      std::ssize(hosts), body, [&](std::unique_ptr<Transport> network, int64_t rank) {
        return with_shared_memory(
            std::move(network),
            {.rank = rank,
             .hosts = hosts,
             .publish =
                 [&board, &change, rank](const std::string& mine) {
                   board.publish(rank, change ? change(mine) : mine);
                 },
             .read = [&board, rank](int64_t from) { return board.read(from, rank); }},
            options);
      });
}

void expect_sum_of_ranks(World& world, int64_t size) {
  const Division division(world.size(), world.rank(), world.size());
  const auto memory = world.allocate(static_cast<std::size_t>(size) * sizeof(float));
  auto* mine = static_cast<float*>(memory.get());
  for (int round = 0; round < 3; ++round) {
    for (int64_t i = 0; i < size; ++i) {
      mine[i] = static_cast<float>((world.rank() + 1) * (i % 100) + round);
    }
    Reduction reduction(world, division);
    const std::vector<float*> first = {mine};
    const std::vector<float*> second = {mine + size / 2};
    reduction.add(first, size / 2, first.front());
    reduction.add(second, size - size / 2, second.front());
    reduction.finish();
    const int64_t sum = world.size() * (world.size() + 1) / 2;
    int64_t num_wrong = 0;
    for (int64_t i = 0; i < size; ++i) {
      if (mine[i] != static_cast<float>(sum * (i % 100) + world.size() * round)) ++num_wrong;
    }
    EXPECT_EQ(num_wrong, 0) << "rank " << world.rank() << ", round " << round;
  }
}

TEST(SharedMemoryTransportTest, ProcessesOfAMachineSendNothingByTheNetwork) {
  for (const std::size_t size : {2U, 3U, 5U}) {
    const std::size_t sent =
        run_on(std::vector<std::string>(size, "a"), [](const std::shared_ptr<World>& world) {
          EXPECT_EQ(world->transport_name(), "shared memory");
          expect_sum_of_ranks(*world, 300'000);
          expect_sum_of_ranks(*world, 11);
        });
    EXPECT_EQ(sent, 0U);
  }
}

TEST(SharedMemoryTransportTest, BetweenMachinesMessagesGoByTheNetwork) {
  const std::size_t sent = run_on({"a", "b", "a", "b"}, [](const std::shared_ptr<World>& world) {
    EXPECT_EQ(world->transport_name(), "shared memory, a mailbox between machines");
    expect_sum_of_ranks(*world, 100'000);
    expect_sum_of_ranks(*world, 11);
  });
  EXPECT_GT(sent, 0U);
}

TEST(SharedMemoryTransportTest, OneAloneOnItsMachineTakesPart) {
  run_on({"a", "b", "a"},
         [](const std::shared_ptr<World>& world) { expect_sum_of_ranks(*world, 100'000); });
}

TEST(SharedMemoryTransportTest, MessagesLongerThanTheRingArriveWhole) {
  run_on({"a", "a"}, [](const std::shared_ptr<World>& world) {
    const std::string mine(1'234'567, world->is_first() ? 'x' : 'y');
    const std::vector<std::string> all = world->gather_texts(mine);
    EXPECT_EQ(all.front(), std::string(1'234'567, 'x'));
    EXPECT_EQ(all.back(), std::string(1'234'567, 'y'));
  });
}

// Exchanges that are started before earlier ones are finished, of all lengths.
TEST(SharedMemoryTransportTest, MessagesKeepTheirOrder) {
  run_on({"a", "a", "a"}, [](const std::shared_ptr<World>& world) {
    std::vector<std::vector<int>> sent;
    std::vector<std::vector<int>> received;
    for (int i = 0; i < 60; ++i) {
      const auto length = static_cast<std::size_t>(i * i * i % 7919);
      sent.emplace_back(length, 1000 * static_cast<int>(world->rank()) + i);
      received.emplace_back(3 * length);
    }
    int64_t last = 0;
    for (std::size_t i = 0; i < sent.size(); ++i) {
      last = world->start_gather(std::as_bytes(std::span(sent[i])),
                                 std::as_writable_bytes(std::span(received[i])));
    }
    world->finish(last);
    for (std::size_t i = 0; i < sent.size(); ++i) {
      std::vector<int> expected;
      for (int rank = 0; rank < 3; ++rank) {
        expected.insert(expected.end(), sent[i].size(), 1000 * rank + static_cast<int>(i));
      }
      EXPECT_EQ(received[i], expected) << i;
    }
  });
}

TEST(SharedMemoryTransportTest, MemoryIsZeroedAndUsedAgain) {
  run_on({"a", "a"}, [](const std::shared_ptr<World>& world) {
    const void* before = nullptr;
    {
      const auto memory = world->allocate(1000);
      before = memory.get();
      std::memset(memory.get(), 1, 1000);
    }
    const auto memory = world->allocate(500);
    EXPECT_EQ(memory.get(), before);
    const std::vector<char> zeros(500);
    EXPECT_EQ(std::memcmp(memory.get(), zeros.data(), zeros.size()), 0);
    EXPECT_NE(world->allocate(500).get(), before);
  });
}

TEST(SharedMemoryTransportTest, TheNetworkIsUsedWhereItIsNotWantedOrSeen) {
  const auto expect_network = [](const std::shared_ptr<World>& world) {
    EXPECT_EQ(world->transport_name(), "a mailbox");
    expect_sum_of_ranks(*world, 1000);
  };
  EXPECT_GT(run_on({"a", "a"}, expect_network, options_with(false)), 0U);
  EXPECT_GT(run_on({"a", "b"}, expect_network), 0U);
  // As of another container: the number of the process is not of this one.
  const auto of_init = [](const std::string& notice) {
    return notice.find(' ') == std::string::npos ? notice : "1" + notice.substr(notice.find(' '));
  };
  EXPECT_GT(run_on({"a", "a"}, expect_network, options_with(true), of_init), 0U);
  const auto of_other_file = [](const std::string& notice) {
    return notice.find(' ') == std::string::npos ? notice : notice + "0";
  };
  EXPECT_GT(run_on({"a", "a"}, expect_network, options_with(true), of_other_file), 0U);
}

TEST(SharedMemoryTransportTest, WhoDoesNotAnswerIsLost) {
  run_on(
      {"a", "a"},
      [](const std::shared_ptr<World>& world) {
        if (!world->is_first()) return;
        try {
          world->gather_texts("anybody?");
          ADD_FAILURE() << "expected an error";
        } catch (const Error& error) {
          EXPECT_EQ(error.kind(), ErrorKind::kLostProcess);
          EXPECT_STREQ(error.what(), "no answer within 50 ms");
        }
      },
      options_with(true, milliseconds(50)));
}

// Rank 0 waits for rank 1, which waits for rank 2 in vain.
TEST(SharedMemoryTransportTest, WhoGivesUpIsNotWaitedFor) {
  const JoinOptions options = options_with(true, milliseconds(50));
  const auto body = [](const std::shared_ptr<World>& world) {
    const int64_t rank = world->rank();
    if (rank == 2) return;
    std::vector<std::byte> bytes(8);
    const Message message{.rank = rank + 1, .data = bytes.data(), .num_bytes = 8};
    try {
      world->finish(world->start({}, std::span(&message, 1)),
                    rank == 0 ? Patience::kForStart : Patience::kForStep);
      ADD_FAILURE() << "expected an error";
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(),
                   rank == 0 ? "a process of this machine has ended" : "no answer within 50 ms");
    }
  };
  run_on({"a", "a", "a"}, body, options);
}

}  // namespace
}  // namespace trainer::dist

#endif
