// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

// The protocol of the store. A connection carries frames of texts, each with its length before it.
// The first frame is kGreeting and the token, and the answer to it is kGreeting; then come
// requests, each with an answer.

namespace trainer::launch {

/// The texts of a frame. A request has its name (set, find, swap, add, erase, count), the key and
/// values; an answer has one of the words below, and a value.
using Frame = std::vector<std::string>;

constexpr const char* kGreeting = "trainer store 1";
constexpr const char* kDone = "done";
constexpr const char* kNothing = "nothing";  // there is no such key
constexpr const char* kRefused = "refused";  // followed by the reason

/// The largest frame in bytes, and the largest frame of a connection that has not given the token
/// yet.
constexpr std::size_t kMaxFrameBytes = std::size_t{1} << 20U;
constexpr std::size_t kMaxGreetingBytes = 512;

/// Returns the bytes of a frame, that is, its length, and each text after its length.
std::string bytes_of(const Frame& frame);

/// What the bytes that have arrived begin with: part of a frame, a frame, or neither.
enum class Arrival : uint8_t { kPart, kFrame, kInvalid };

/// Moves the first frame from `bytes` to `frame` if it is complete. kInvalid: it is longer than
/// `max_bytes`, or malformed.
Arrival take_frame(std::string& bytes, std::size_t max_bytes, Frame& frame);

/// The keys and values of a store, and the requests on them.
class StoreValues {
 public:
  /// `max_bytes` limits the size of all keys and values together.
  explicit StoreValues(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  /// Executes a request and returns the answer.
  Frame answer(const Frame& request);

 private:
  Frame find(const std::string& key) const;
  Frame set(const std::string& key, const std::string& value);
  Frame swap(const std::string& key, const std::string& expected, const std::string& value);
  Frame add(const std::string& key, const std::string& number);
  Frame erase(const std::string& key);

  std::map<std::string, std::string> values_;
  std::size_t num_bytes_ = 0;
  std::size_t max_bytes_;
};

}  // namespace trainer::launch
