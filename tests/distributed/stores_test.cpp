// SPDX-License-Identifier: Apache-2.0
// The store of rank 0 as LibTorch uses it, and what is told by torchrun's.
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "trainer/base/error.h"
#include "trainer/launch/addresses.h"
#include "trainer/launch/store_client.h"
#include "trainer/launch/store_server.h"

#include "distributed/c10d_store.h"
#include "distributed/torchrun_store.h"
#include "support/error_of.h"

namespace trainer::dist {
namespace {

using std::chrono::milliseconds;
using Bytes = std::vector<uint8_t>;

constexpr milliseconds kPatience{20'000};

TEST(C10dStoreTest, DoesWhatCollectivesNeed) {
  launch::Address address{"127.0.0.1", 0};
  launch::Socket listener = launch::listen_at(address);
  address.port = launch::port_of(listener);
  const launch::StoreServer server(std::move(listener), address.door, "token", {});
  const auto store =
      as_c10d_store(std::make_shared<launch::StoreClient>(address, "token", kPatience));
  c10d::PrefixStore one("one", store);
  c10d::PrefixStore two("two", store);
  EXPECT_FALSE(one.check({"key"}));
  auto waiting = std::async(std::launch::async, [&] {
    one.wait({"key"}, kPatience);
    return one.get("key");
  });
  const Bytes bytes = {0, 255, 10};
  one.set("key", bytes);
  EXPECT_EQ(waiting.get(), bytes);
  EXPECT_FALSE(two.check({"key"}));
  EXPECT_EQ(two.add("number", 2), 2);
  EXPECT_EQ(two.add("number", 3), 5);
  EXPECT_EQ(two.get("number"), (Bytes{'5'}));
  EXPECT_EQ(one.compareSet("key", bytes, {1}), Bytes{1});
  EXPECT_EQ(store->getNumKeys(), 2);
  EXPECT_TRUE(one.deleteKey("key"));
  EXPECT_THROW(one.wait({"key"}, milliseconds(10)), std::runtime_error);
}

// Debian's LibTorch 2 has no libuv, which it asks for all the same; older versions do not know it.
template <class Options>
void without_libuv(Options& options) {
  if constexpr (requires { options.useLibUV; }) options.useLibUV = false;
}

TEST(TorchrunStoreTest, TellsAllRanksTheTextOfTheFirst) {
  c10d::TCPStoreOptions options;
  without_libuv(options);
  options.isServer = true;
  options.waitWorkers = false;
  const auto agent = c10::make_intrusive<c10d::TCPStore>("127.0.0.1", options);
  const launch::Rendezvous rendezvous{launch::Meeting::kStore, "127.0.0.1", agent->getPort(),
                                      "attempt_1/", ""};
  const auto share = [&](int64_t rank) {
    return share_by_torchrun(rendezvous, {launch::Launcher::kTorchrun, rank, 2},
                             rank == 0 ? "4711 token 10.0.0.1" : "", kPatience);
  };
  auto other = std::async(std::launch::async, [&] { return share(1); });
  EXPECT_EQ(share(0), "4711 token 10.0.0.1");
  EXPECT_EQ(other.get(), "4711 token 10.0.0.1");
  EXPECT_TRUE(agent->check({"attempt_1/trainer"}));
}

TEST(TorchrunStoreTest, ThatIsNotThereIsNamed) {
  const int64_t port = launch::port_of(launch::listen_at({"127.0.0.1", 0}));  // free again
  const std::string message = test::message_of(ErrorKind::kDevice, [&] {
    share_by_torchrun({launch::Meeting::kStore, "127.0.0.1", port, "", ""},
                      {launch::Launcher::kTorchrun, 1, 2}, "", milliseconds(100));
  });
  EXPECT_TRUE(message.starts_with(
      fmt::format("127.0.0.1:{}: expected the store of torchrun there, got ", port)))
      << message;
}

}  // namespace
}  // namespace trainer::dist
