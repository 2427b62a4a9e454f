// SPDX-License-Identifier: Apache-2.0
#include "launch/store_frame.h"

#include <cstdint>
#include <optional>

#include "trainer/base/text/parse.h"

namespace trainer::launch {
namespace {

constexpr std::size_t kLengthBytes = 4;

void append_length(std::string& bytes, std::size_t length) {
  for (unsigned shift = 0; shift < 32; shift += 8) {
    bytes += static_cast<char>(static_cast<uint32_t>(length) >> shift & 0xFFU);
  }
}

std::size_t length_at(std::string_view bytes) {
  uint32_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    length |= static_cast<uint32_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  return length;
}

}  // namespace

std::string bytes_of(const Frame& frame) {
  std::size_t size = 0;
  for (const std::string& text : frame) size += kLengthBytes + text.size();
  std::string bytes;
  bytes.reserve(kLengthBytes + size);
  append_length(bytes, size);
  for (const std::string& text : frame) {
    append_length(bytes, text.size());
    bytes += text;
  }
  return bytes;
}

Arrival take_frame(std::string& bytes, std::size_t max_bytes, Frame& frame) {
  constexpr std::size_t kMaxTexts = 8;
  if (bytes.size() < kLengthBytes) return Arrival::kPart;
  const std::size_t size = length_at(bytes);
  if (size > max_bytes) return Arrival::kInvalid;
  if (bytes.size() < kLengthBytes + size) return Arrival::kPart;
  std::string_view rest = std::string_view(bytes).substr(kLengthBytes, size);
  frame.clear();
  while (!rest.empty()) {
    if (rest.size() < kLengthBytes || frame.size() == kMaxTexts) return Arrival::kInvalid;
    const std::size_t length = length_at(rest);
    rest.remove_prefix(kLengthBytes);
    if (length > rest.size()) return Arrival::kInvalid;
    frame.emplace_back(rest.substr(0, length));
    rest.remove_prefix(length);
  }
  bytes.erase(0, kLengthBytes + size);
  return frame.empty() ? Arrival::kInvalid : Arrival::kFrame;
}

Frame StoreValues::answer(const Frame& request) {
  const std::string& name = request.front();
  const std::size_t size = request.size();
  if (name == "find" && size == 2) return find(request[1]);
  if (name == "set" && size == 3) return set(request[1], request[2]);
  if (name == "swap" && size == 4) return swap(request[1], request[2], request[3]);
  if (name == "add" && size == 3) return add(request[1], request[2]);
  if (name == "erase" && size == 2) return erase(request[1]);
  if (name == "count" && size == 1) return {kDone, std::to_string(values_.size())};
  return {kRefused, "an unknown request"};
}

Frame StoreValues::find(const std::string& key) const {
  const auto found = values_.find(key);
  if (found == values_.end()) return {kNothing};
  return {kDone, found->second};
}

Frame StoreValues::set(const std::string& key, const std::string& value) {
  const auto found = values_.find(key);
  const std::size_t before = found == values_.end() ? 0 : key.size() + found->second.size();
  const std::size_t after = num_bytes_ - before + key.size() + value.size();
  if (after > max_bytes_) return {kRefused, "the store is full"};
  num_bytes_ = after;
  values_.insert_or_assign(key, value);
  return {kDone, ""};
}

// As in c10d's stores, an empty `expected` sets a key that does not exist.
Frame StoreValues::swap(const std::string& key, const std::string& expected,
                        const std::string& value) {
  const auto found = values_.find(key);
  if (found == values_.end() && !expected.empty()) return {kDone, expected};
  if (found != values_.end() && found->second != expected) return {kDone, found->second};
  const Frame answer = set(key, value);
  return answer.front() == kDone ? Frame{kDone, value} : answer;
}

Frame StoreValues::add(const std::string& key, const std::string& number) {
  const auto found = values_.find(key);
  const std::optional<int64_t> before = found == values_.end() ? 0 : parse_int(found->second);
  const std::optional<int64_t> more = parse_int(number);
  if (!before || !more) return {kRefused, "what is added is no number"};
  // Unsigned addition wraps around, whereas signed overflow would be undefined.
  const auto sum =
      static_cast<int64_t>(static_cast<uint64_t>(*before) + static_cast<uint64_t>(*more));
  const Frame answer = set(key, std::to_string(sum));
  return answer.front() == kDone ? Frame{kDone, std::to_string(sum)} : answer;
}

Frame StoreValues::erase(const std::string& key) {
  const auto found = values_.find(key);
  if (found == values_.end()) return {kNothing};
  num_bytes_ -= key.size() + found->second.size();
  values_.erase(found);
  return {kDone, ""};
}

}  // namespace trainer::launch
