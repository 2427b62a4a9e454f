// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "launch/store_frame.h"

namespace trainer::launch {

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
