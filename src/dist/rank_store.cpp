// SPDX-License-Identifier: Apache-2.0
#include "dist/rank_store.h"

#ifdef TRAINER_HAS_GLOO

#include <vector>

#include <fmt/format.h>
#include <torch/csrc/distributed/c10d/Store.hpp>

namespace trainer::dist {
namespace {

std::string key(std::string_view name, int64_t rank) {
  return fmt::format("trainer/{}/{}", name, rank);
}

}  // namespace

void RankStore::set(std::string_view name, int64_t rank, const std::string& value) const {
  store_->set(key(name, rank), std::vector<uint8_t>(value.begin(), value.end()));
}

bool RankStore::has(std::string_view name, int64_t rank) const {
  return store_->check({key(name, rank)});
}

std::optional<std::string> RankStore::find(std::string_view name, int64_t rank) const {
  if (!has(name, rank)) return std::nullopt;
  return get(name, rank);
}

std::string RankStore::get(std::string_view name, int64_t rank) const {
  const std::vector<uint8_t> value = store_->get(key(name, rank));
  return {value.begin(), value.end()};
}

void RankStore::wait(std::string_view name, int64_t rank, std::chrono::milliseconds limit) const {
  store_->wait({key(name, rank)}, limit);
}

int64_t RankStore::count(std::string_view name, int64_t rank) const {
  return store_->add(key(name, rank), 1);
}

}  // namespace trainer::dist

#endif
