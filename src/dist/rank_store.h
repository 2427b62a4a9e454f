// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace c10d {
class Store;
}  // namespace c10d

namespace trainer::dist {

/// What the ranks of a run tell each other by the store of rank 0. An entry has a name and the rank
/// that it is of. All functions throw if the store does not answer.
class RankStore {
 public:
  explicit RankStore(std::shared_ptr<c10d::Store> store) : store_(std::move(store)) {}

  void set(std::string_view name, int64_t rank, const std::string& value) const;
  bool has(std::string_view name, int64_t rank) const;
  /// Nothing if there is none yet.
  std::optional<std::string> find(std::string_view name, int64_t rank) const;
  /// Waits for it.
  std::string get(std::string_view name, int64_t rank) const;
  void wait(std::string_view name, int64_t rank, std::chrono::milliseconds limit) const;
  /// How often it has been called for this entry, this time included.
  int64_t count(std::string_view name, int64_t rank) const;

 private:
  std::shared_ptr<c10d::Store> store_;  // keeps rank 0's server running
};

}  // namespace trainer::dist
