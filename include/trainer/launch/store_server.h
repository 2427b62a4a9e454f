// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "trainer/launch/addresses.h"

namespace trainer::launch {

/// What a store takes from others.
struct StoreLimits {
  std::size_t max_members = 1024;     // connections that have given the token
  std::size_t max_strangers = 64;     // that have not; the oldest one makes place for a new one
  std::size_t max_bytes = 256 << 20;  // of all keys and values
  std::chrono::milliseconds greeting{5000};   // the time that a stranger has
  std::chrono::milliseconds request{60'000};  // that a member has for what it has begun
};

/// The store of rank 0: texts by key, which other processes read and change by a StoreClient. Only
/// who gives the token can, whatever else is sent: no byte of a stranger delays anybody, and its
/// connection is closed at the first one that is wrong. One thread serves all, and never waits for
/// one of them.
class StoreServer {
 public:
  /// Serves connections to `listener`. Throws std::system_error without resources for it.
  StoreServer(Socket listener, Door door, std::string token, const StoreLimits& limits);
  ~StoreServer();
  StoreServer(const StoreServer&) = delete;
  StoreServer& operator=(const StoreServer&) = delete;

 private:
  class Service;

  std::unique_ptr<Service> service_;
};

}  // namespace trainer::launch
