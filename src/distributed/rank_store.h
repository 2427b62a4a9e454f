// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "trainer/launch/store_client.h"
#include "trainer/launch/store_server.h"

namespace trainer::dist {

/// Entries of the ranks of a run in the store of rank 0. The key of an entry is a name and a rank.
/// All functions throw if the store does not answer.
class RankStore {
 public:
  /// `server` is set on rank 0 only, to keep it running. `limit` is how long get() waits.
  RankStore(std::shared_ptr<launch::StoreClient> client,
            std::shared_ptr<launch::StoreServer> server, std::chrono::milliseconds limit)
      : server_(std::move(server)), client_(std::move(client)), limit_(limit) {}

  void set(std::string_view name, int64_t rank, std::string_view value) const;
  /// Returns the entry, or nothing if it does not exist yet.
  std::optional<std::string> find(std::string_view name, int64_t rank) const;
  bool has(std::string_view name, int64_t rank) const { return find(name, rank).has_value(); }
  /// Waits until the entry exists, and returns it. Throws std::runtime_error after the limit.
  std::string get(std::string_view name, int64_t rank) const;
  /// Throws unless the store answers within `limit`.
  void require_answer(std::chrono::milliseconds limit) const;
  /// Returns how often it has been called for this entry by any rank, including this call.
  int64_t count(std::string_view name, int64_t rank) const;

 private:
  std::shared_ptr<launch::StoreServer> server_;
  std::shared_ptr<launch::StoreClient> client_;
  std::chrono::milliseconds limit_;
};

}  // namespace trainer::dist
