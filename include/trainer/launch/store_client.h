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

/// A connection to the store of rank 0 (StoreServer), for any number of threads. Functions throw
/// std::runtime_error, with the reason, if it refuses or does not answer within the time; after
/// that all of them do.
class StoreClient {
 public:
  using Milliseconds = std::chrono::milliseconds;

  /// Tries again and again to connect until `limit`, as the store may not be there yet, and gives
  /// up sooner if what listens there closes connections or is no store that takes the token.
  /// `limit` is also that of each request.
  StoreClient(const Address& address, const std::string& token, Milliseconds limit);

  /// The value of a key, or nothing.
  std::optional<std::string> find(const std::string& key);
  std::optional<std::string> find(const std::string& key, Milliseconds limit);

  /// Makes a key, or replaces its value.
  void set(const std::string& key, const std::string& value);

  /// Sets it if it has the expected value, or if there is none and none is expected. The value
  /// afterwards; the expected one if there is none.
  std::string swap(const std::string& key, const std::string& expected, const std::string& value);

  /// Adds to a number, which is 0 if there is none; returns the sum.
  int64_t add(const std::string& key, int64_t number);

  /// Whether there was such a key.
  bool erase(const std::string& key);

  /// The number of keys.
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
  std::string received_;  // of the next answer
  Milliseconds limit_;
};

}  // namespace trainer::launch
