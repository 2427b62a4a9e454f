// SPDX-License-Identifier: Apache-2.0
// The store of rank 0, used as it should be, and by strangers who do what they like.
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/launch/store_client.h"
#include "trainer/launch/store_server.h"
#include "trainer/launch/token.h"

#include "launch/store_frame.h"
#include "support/child.h"

namespace trainer::launch {
namespace {

using std::chrono::milliseconds;

constexpr const char* kToken = "the token";
constexpr milliseconds kPatience{20'000};

/// A store at a free port of this machine.
class RankZeroStoreTest : public testing::Test {
 protected:
  explicit RankZeroStoreTest(const StoreLimits& limits = {}) {
    Socket listener = listen_at(address_);
    address_.port = port_of(listener);
    server_ = std::make_unique<StoreServer>(std::move(listener), Door::kNetwork, kToken, limits);
  }

  std::unique_ptr<StoreClient> connect(const std::string& token = kToken) const {
    return std::make_unique<StoreClient>(address_, token, kPatience);
  }

  Address address_{"127.0.0.1", 0};
  std::unique_ptr<StoreServer> server_;
};

template <class Function>
std::string reason_of_failure(const Function& function) {
  try {
    function();
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return "none";
}

/// A connection that sends any bytes.
class Stranger {
 public:
  explicit Stranger(const Address& address) : socket_(connect_to(address, kPatience)) {}

  void send(const std::string& bytes) const {
    std::size_t done = 0;
    while (done < bytes.size() && wait_for_events(socket_.get(), POLLOUT, kPatience)) {
      const ssize_t size = ::send(socket_.get(), bytes.data() + done, bytes.size() - done, kFlags);
      if (size <= 0) return;  // closed by the other side
      done += static_cast<std::size_t>(size);
    }
  }

  /// What has come until the other side closed the connection, or `size` bytes.
  std::string receive(std::size_t size = SIZE_MAX) const {
    std::string all;
    std::array<char, 4096> buffer;
    while (all.size() < size && wait_for_events(socket_.get(), POLLIN, kPatience)) {
      const ssize_t count = recv(socket_.get(), buffer.data(), buffer.size(), 0);
      if (count <= 0) return all;
      all.append(buffer.data(), static_cast<std::size_t>(count));
    }
    if (all.size() < size) ADD_FAILURE() << "the connection is still open";
    return all;
  }

  /// Closes it so that the other side sees an error.
  void reset() {
    const linger now{.l_onoff = 1, .l_linger = 0};
    setsockopt(socket_.get(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
    socket_ = Socket();
  }

 private:
#ifdef MSG_NOSIGNAL
  static constexpr int kFlags = MSG_NOSIGNAL;
#else
  static constexpr int kFlags = 0;
#endif
  Socket socket_;
};

std::string length(uint32_t value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};  // on little-endian machines
}

TEST_F(RankZeroStoreTest, MembersReadAndChangeItsValues) {
  const auto one = connect();
  const auto other = connect();
  EXPECT_EQ(one->find("key"), std::nullopt);
  const std::string bytes("\0\xff\n", 3);
  one->set("key", bytes);
  EXPECT_EQ(other->find("key"), bytes);
  EXPECT_EQ(other->add("number", 3), 3);
  EXPECT_EQ(one->add("number", -5), -2);
  EXPECT_EQ(one->find("number"), "-2");
  EXPECT_EQ(one->swap("key", "other", "new"), bytes);
  EXPECT_EQ(one->swap("key", bytes, "new"), "new");
  EXPECT_EQ(one->swap("none", "expected", "new"), "expected");
  EXPECT_EQ(one->swap("none", "", "made"), "made");
  EXPECT_EQ(other->count(), 3);
  EXPECT_TRUE(other->erase("none"));
  EXPECT_FALSE(other->erase("none"));
  EXPECT_EQ(other->count(), 2);
  EXPECT_EQ(reason_of_failure([&] { one->add("key", 1); }),
            "the store refuses it: what is added is no number");
  EXPECT_EQ(one->find("key"), "new");
}

TEST_F(RankZeroStoreTest, ThreadsMayShareAConnection) {
  const auto client = connect();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 50; ++j) client->add("number", 1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(client->add("number", 0), 200);
}

TEST_F(RankZeroStoreTest, AValueOfAFrameGoesThrough) {
  const auto client = connect();
  const std::string value(kMaxFrameBytes - 100, 'x');
  client->set("key", value);
  EXPECT_EQ(client->find("key"), value);
}

TEST_F(RankZeroStoreTest, AnotherTokenIsRefused) {
  for (const char* token : {"", "the toke", "the token ", "The token"}) {
    EXPECT_EQ(reason_of_failure([&] { connect(token); }),
              "a store that refuses this process, as it has another token");
  }
}

TEST_F(RankZeroStoreTest, BytesOfStrangersEndTheirConnectionAndChangeNothing) {
  const auto member = connect();
  member->set("trainer/rank/1", "mine");
  const std::string set = bytes_of({"set", "trainer/rank/1", "theirs"});
  const std::string tls("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11);
  for (const std::string& bytes : {
           std::string("GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
           tls,
           set,
           length(0),
           length(0xFFFFFFFF),
           length(kMaxGreetingBytes + 1),
           length(2) + "ab",
           length(4) + length(1),
           length(8) + length(0x80000000) + "abcd",
           bytes_of({kGreeting}),
           bytes_of({kGreeting, kToken, "more"}),
           bytes_of({"trainer store 2", kToken}),
           bytes_of({"", ""}),
           // Requests of c10d's own store: SET with a long value, ADD.
           std::string(1, '\0') + "\x09" + std::string(7, '\0') + "init/evil" + "\xff\xff\xff\xff",
           std::string("\x03") + std::string(64, '\0'),
       }) {
    const Stranger stranger(address_);
    stranger.send(bytes);
    EXPECT_EQ(stranger.receive(), "") << testing::PrintToString(bytes);
    EXPECT_EQ(member->find("trainer/rank/1"), "mine");
  }
  const Stranger liar(address_);
  liar.send(bytes_of({kGreeting, "no token"}) + set);
  EXPECT_EQ(liar.receive(), bytes_of({kRefused, "it has another token"}));
  EXPECT_EQ(member->find("trainer/rank/1"), "mine");
  EXPECT_EQ(member->count(), 1);
}

TEST_F(RankZeroStoreTest, StrangersThatWaitDelayNobody) {
  const Stranger silent(address_);
  const Stranger slow(address_);
  slow.send("\x02");
  const Stranger half(address_);
  half.send(bytes_of({kGreeting, kToken}).substr(0, 20));
  const auto member = connect();
  member->set("key", "value");
  EXPECT_EQ(connect()->find("key"), "value");
}

TEST_F(RankZeroStoreTest, ConnectionsThatBreakLeaveNothing) {
  const auto member = connect();
  const std::string request = bytes_of({kGreeting, kToken}) + bytes_of({"add", "number", "1"});
  for (std::size_t size = 0; size < request.size(); ++size) {
    Stranger stranger(address_);
    stranger.send(request.substr(0, size));
    stranger.reset();
  }
  EXPECT_EQ(member->find("number"), std::nullopt);
}

TEST_F(RankZeroStoreTest, ManyStrangersKeepNoMemberOut) {
  std::vector<std::unique_ptr<Stranger>> strangers;
  for (int i = 0; i < 300; ++i) strangers.push_back(std::make_unique<Stranger>(address_));
  const auto member = connect();
  member->set("key", "value");
  EXPECT_EQ(member->find("key"), "value");
  EXPECT_EQ(strangers.front()->receive(), "");  // made place for a later one
}

TEST_F(RankZeroStoreTest, RequestsThatAreSentAtOnceAreAllAnswered) {
  const Stranger member(address_);
  constexpr int kRequests = 3000;
  std::string requests = bytes_of({kGreeting, kToken});
  for (int i = 0; i < kRequests; ++i) requests += bytes_of({"add", "number", "1"});
  std::thread sender([&] { member.send(requests); });
  std::size_t size = bytes_of({kGreeting}).size();
  for (int i = 1; i <= kRequests; ++i) size += bytes_of({kDone, std::to_string(i)}).size();
  EXPECT_TRUE(member.receive(size).ends_with(bytes_of({kDone, std::to_string(kRequests)})));
  sender.join();
}

TEST_F(RankZeroStoreTest, AFrameOfAMemberThatIsTooLongEndsItsConnection) {
  const auto other = connect();
  const auto member = connect();
  EXPECT_EQ(reason_of_failure([&] { member->set("key", std::string(kMaxFrameBytes, 'x')); }),
            "a connection that was closed without an answer");
  EXPECT_EQ(reason_of_failure([&] { member->find("key"); }), "the connection is lost");
  EXPECT_EQ(other->find("key"), std::nullopt);
  const Stranger unknown(address_);
  unknown.send(bytes_of({kGreeting, kToken}) + bytes_of({"stop", "it"}));
  const std::string answers = bytes_of({kGreeting}) + bytes_of({kRefused, "an unknown request"});
  EXPECT_EQ(unknown.receive(answers.size()), answers);
}

class SmallStoreTest : public RankZeroStoreTest {
 protected:
  SmallStoreTest()
      : RankZeroStoreTest({.max_members = 2,
                           .max_bytes = 100,
                           .greeting = milliseconds(50),
                           .request = milliseconds(50)}) {}
};

TEST_F(SmallStoreTest, WhatIsBegunHasToBeFinished) {
  const Stranger silent(address_);
  EXPECT_EQ(silent.receive(), "");
  const Stranger slow(address_);
  slow.send(bytes_of({kGreeting, kToken}).substr(0, 20));
  EXPECT_EQ(slow.receive(), "");
  const Stranger member(address_);
  member.send(bytes_of({kGreeting, kToken}) + bytes_of({"set", "key", "value"}).substr(0, 9));
  EXPECT_EQ(member.receive(), bytes_of({kGreeting}));
}

TEST_F(SmallStoreTest, HasABound) {
  const auto member = connect();
  member->set("key", std::string(90, 'x'));
  EXPECT_EQ(reason_of_failure([&] { member->set("other", "value"); }),
            "the store refuses it: the store is full");
  EXPECT_EQ(reason_of_failure([&] { member->add("number", 12); }),
            "the store refuses it: the store is full");
  member->set("key", std::string(80, 'x'));  // in its place
  member->set("other", "value");
  EXPECT_EQ(member->count(), 2);
  const auto second = connect();
  EXPECT_EQ(reason_of_failure([&] { connect(); }),
            "a store that refuses this process, as there are too many processes");
}

/// What listens there in place of a store: it sends this to whoever connects.
std::string connecting_to(const std::string& answer, milliseconds limit) {
  Address address{"127.0.0.1", 0};
  const Socket listener = listen_at(address);
  address.port = port_of(listener);
  std::thread other([&] {
    const Socket connection(accept(listener.get(), nullptr, nullptr));
    send(connection.get(), answer.data(), answer.size(), 0);
    std::array<char, 4096> buffer;
    while (recv(connection.get(), buffer.data(), buffer.size(), 0) > 0) {
    }
  });
  const std::string reason = reason_of_failure([&] { StoreClient(address, kToken, limit); });
  other.join();
  return reason;
}

TEST(StoreClientTest, SaysWhatListensInPlaceOfAStore) {
  EXPECT_EQ(connecting_to("HTTP/1.1 400 Bad Request\r\n", kPatience), "another program");
  EXPECT_EQ(connecting_to(bytes_of({kDone, ""}), kPatience), "another program");
  EXPECT_EQ(connecting_to(length(kMaxFrameBytes + 1), kPatience), "another program");
  EXPECT_EQ(connecting_to(length(2) + "ab", kPatience), "another program");
  EXPECT_EQ(connecting_to("", milliseconds(100)), "no answer");
}

TEST(StoreClientTest, WaitsForAStoreThatIsNotThereYet) {
  Address address{"127.0.0.1", 0};
  address.port = port_of(listen_at(address));  // free again
  EXPECT_EQ(reason_of_failure([&] { StoreClient(address, kToken, milliseconds(50)); }),
            "Connection refused");
  std::thread early([&] { StoreClient(address, kToken, kPatience).set("key", "value"); });
  StoreServer server(listen_at(address), Door::kNetwork, kToken, {});
  early.join();
  EXPECT_EQ(StoreClient(address, kToken, kPatience).find("key"), "value");
}

TEST(StoreClientTest, NoticesTheEndOfTheStore) {
  Address address{"127.0.0.1", 0};
  Socket listener = listen_at(address);
  address.port = port_of(listener);
  auto server =
      std::make_unique<StoreServer>(std::move(listener), Door::kNetwork, "", StoreLimits{});
  StoreClient client(address, "", kPatience);
  server.reset();
  EXPECT_EQ(reason_of_failure([&] { client.find("key"); }),
            "a connection that was closed without an answer");
  EXPECT_EQ(reason_of_failure([&] { client.find("key"); }), "the connection is lost");
}

#ifdef __linux__

TEST(UserDoorTest, OpensForThisUserOnly) {
  const Address address{"127.0.0.1", 100'000 + getpid(), Door::kUser};
  const StoreServer server(listen_at(address), address.door, "", {});
  EXPECT_FALSE(listen_at(address).is_open());  // another run has this port
  StoreClient(address, "", kPatience).set("key", "value");
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  test::Child other([&] {
    if (seteuid(65534) != 0) return 1;
    const Stranger stranger(address);
    stranger.send(bytes_of({kGreeting, ""}));
    return stranger.receive() == bytes_of({kRefused, "it belongs to another user"}) ? 0 : 2;
  });
  EXPECT_EQ(other.wait(), 0);
  test::Child client([&] {
    if (seteuid(65534) != 0) return 1;
    const std::string reason = reason_of_failure([&] { StoreClient(address, "", kPatience); });
    return reason == "a process of another user" ? 0 : 2;
  });
  EXPECT_EQ(client.wait(), 0);
  EXPECT_EQ(StoreClient(address, "", kPatience).find("key"), "value");
}

#endif

TEST(TokenTest, IsRandomAndComparedWhole) {
  const std::string token = random_token();
  EXPECT_EQ(token.size(), 32U);
  EXPECT_EQ(token.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(token, random_token());
  EXPECT_TRUE(is_same_token(token, std::string(token)));
  EXPECT_FALSE(is_same_token(token, token.substr(1)));
  EXPECT_FALSE(is_same_token(token, "x" + token.substr(1)));
}

TEST(AddressTest, TellsNumbersOfTheMachineItself) {
  for (const char* host : {"127.0.0.1", "127.1.2.3", "::1"}) EXPECT_TRUE(is_loopback(host)) << host;
  for (const char* host : {"localhost", "10.0.0.1", "::", "", "1270.0.0.1"}) {
    EXPECT_FALSE(is_loopback(host)) << host;
  }
}

// 192.0.2.1 is for documentation: no machine has it. A name may lead others elsewhere.
TEST(AddressTest, ListensEverywhereWhereTheAddressIsNotItsOwn) {
  const Socket listener = listen_at({"192.0.2.1", 0});
  EXPECT_TRUE(connect_to({"127.0.0.1", port_of(listener)}, kPatience).is_open());
  const Socket own = listen_at({"127.0.0.1", 0});
  EXPECT_FALSE(connect_to({"::1", port_of(own)}, kPatience).is_open());
  EXPECT_FALSE(listen_at({"127.0.0.1", port_of(own)}).is_open());
}

}  // namespace
}  // namespace trainer::launch
