// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What goes over a connection to the store: frames of texts, each with its length before it. The
// first frame of a connection is kGreeting and the token, and the answer to it kGreeting; then
// come requests, and for each an answer.
namespace trainer::launch {

/// The texts of a frame: of a request its name (set, find, swap, add, erase, count), the key and
/// values; of an answer one of the words below, and a value.
using Frame = std::vector<std::string>;

constexpr const char* kGreeting = "trainer store 1";
constexpr const char* kDone = "done";
constexpr const char* kNothing = "nothing";  // there is no such key
constexpr const char* kRefused = "refused";  // and why

/// The most bytes of a frame, and of that of a stranger.
constexpr std::size_t kMaxFrameBytes = std::size_t{1} << 20U;
constexpr std::size_t kMaxGreetingBytes = 512;

/// The bytes of a frame.
std::string bytes_of(const Frame& frame);

/// What is at the beginning of the bytes that have come so far.
enum class Arrival : uint8_t { kPart, kFrame, kInvalid };

/// Moves the first frame out of `bytes` into `frame`, if it is there. Invalid: it is longer than
/// `max_bytes`, or is no frame.
Arrival take_frame(std::string& bytes, std::size_t max_bytes, Frame& frame);

}  // namespace trainer::launch
