// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "launch/store_frame.h"

namespace trainer::launch {

/// The content of a store.
class StoreValues {
 public:
  /// `max_bytes`: of all keys and values.
  explicit StoreValues(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  /// Does what a request says, and returns the answer.
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
