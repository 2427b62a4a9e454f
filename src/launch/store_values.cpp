// SPDX-License-Identifier: Apache-2.0
#include "launch/store_values.h"

#include <cstdint>
#include <optional>

#include "trainer/base/text/parse.h"

namespace trainer::launch {

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
