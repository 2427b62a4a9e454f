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

/// What the ranks of a run tell each other by the store of rank 0. An entry has a name and the rank
/// that it is of. All functions throw if the store does not answer.
class RankStore {
 public:
  /// `server`: on rank 0, to keep it running. `limit`: how long get() waits.
  RankStore(std::shared_ptr<launch::StoreClient> client,
            std::shared_ptr<launch::StoreServer> server, std::chrono::milliseconds limit)
      : server_(std::move(server)), client_(std::move(client)), limit_(limit) {}

  void set(std::string_view name, int64_t rank, std::string_view value) const;
  /// Nothing if there is none yet.
  std::optional<std::string> find(std::string_view name, int64_t rank) const;
  bool has(std::string_view name, int64_t rank) const { return find(name, rank).has_value(); }
  /// Waits for it.
  std::string get(std::string_view name, int64_t rank) const;
  /// Returns if the store answers within the time.
  void require_answer(std::chrono::milliseconds limit) const;
  /// How often it has been called for this entry, this time included.
  int64_t count(std::string_view name, int64_t rank) const;

 private:
  std::shared_ptr<launch::StoreServer> server_;
  std::shared_ptr<launch::StoreClient> client_;
  std::chrono::milliseconds limit_;
};

}  // namespace trainer::dist
