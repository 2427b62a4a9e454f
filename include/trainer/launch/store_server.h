// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "trainer/launch/addresses.h"

namespace trainer::launch {

/// Limits on the memory and time that other processes can take from a store.
struct StoreLimits {
  std::size_t max_members = 1024;     // connections that have given the token
  std::size_t max_strangers = 64;     // connections that have not; a further one closes the oldest
  std::size_t max_bytes = 256 << 20;  // of all keys and values together
  std::chrono::milliseconds greeting{5000};   // for a stranger to give the token
  std::chrono::milliseconds request{60'000};  // for a member to finish a request that it has begun
};

/// The store of rank 0: texts by key, which other processes read and change through a StoreClient
/// if they give the token. Strangers delay nobody, whatever they send, and are disconnected at the
/// first wrong frame. One thread serves all connections and never waits for a single one.
class StoreServer {
 public:
  /// Serves connections to `listener`. Throws std::system_error if there are no resources for it.
  StoreServer(Socket listener, Door door, std::string token, const StoreLimits& limits);
  ~StoreServer();
  StoreServer(const StoreServer&) = delete;
  StoreServer& operator=(const StoreServer&) = delete;

 private:
  class Service;

  std::unique_ptr<Service> service_;
};

}  // namespace trainer::launch
