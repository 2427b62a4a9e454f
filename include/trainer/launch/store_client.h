// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "trainer/launch/addresses.h"

namespace trainer::launch {

/// A connection to the store of rank 0 (StoreServer), which any number of threads may use. All
/// functions throw std::runtime_error with the reason if the store refuses the request or does not
/// answer in time. After the connection is lost or an answer is late, all further calls throw.
class StoreClient {
 public:
  using Milliseconds = std::chrono::milliseconds;

  /// Connects, and tries again until `limit`, because the store may not exist yet. Gives up sooner
  /// if the other end keeps closing connections, or is not a store that accepts the token. `limit`
  /// is also the time limit of each request.
  StoreClient(const Address& address, const std::string& token, Milliseconds limit);

  /// Returns the value of a key, or nothing if there is no such key.
  std::optional<std::string> find(const std::string& key);
  std::optional<std::string> find(const std::string& key, Milliseconds limit);

  /// Adds a key, or replaces its value.
  void set(const std::string& key, const std::string& value);

  /// Sets the key if it has the value `expected`, or if it does not exist and `expected` is empty.
  /// Returns the value afterwards; `expected` if there is no such key.
  std::string swap(const std::string& key, const std::string& expected, const std::string& value);

  /// Adds `number` to the integer at `key`, which counts as 0 if it does not exist. Returns the
  /// sum.
  int64_t add(const std::string& key, int64_t number);

  /// Removes the key, and returns whether it existed.
  bool erase(const std::string& key);

  /// Returns the number of keys in the store.
  int64_t count();

 private:
  using Texts = std::vector<std::string>;
  using TimePoint = std::chrono::steady_clock::time_point;

  void greet(const Address& address, const std::string& token, TimePoint end);
  std::optional<std::string> request(const Texts& texts, Milliseconds limit);
  Texts exchange(const Texts& texts, TimePoint end);
  void send_all(const std::string& bytes, TimePoint end);
  Texts receive(TimePoint end);

  std::mutex mutex_;
  Socket socket_;         // closed after an error
  std::string received_;  // bytes of the next answer
  Milliseconds limit_;
};

}  // namespace trainer::launch
