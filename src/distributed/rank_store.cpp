// SPDX-License-Identifier: Apache-2.0
#include "distributed/rank_store.h"

#include <stdexcept>
#include <thread>

#include <fmt/format.h>

namespace trainer::dist {
namespace {

// Values are short or messages for users. The limit keeps them far below the frame size of the
// store.
constexpr std::size_t kMaxValueBytes = std::size_t{1} << 16U;

std::string key(std::string_view name, int64_t rank) {
  return fmt::format("trainer/{}/{}", name, rank);
}

}  // namespace

void RankStore::set(std::string_view name, int64_t rank, std::string_view value) const {
  client_->set(key(name, rank), std::string(value.substr(0, kMaxValueBytes)));
}

std::optional<std::string> RankStore::find(std::string_view name, int64_t rank) const {
  return client_->find(key(name, rank));
}

std::string RankStore::get(std::string_view name, int64_t rank) const {
  using std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kPause{1};
  const steady_clock::time_point end = steady_clock::now() + limit_;
  for (;;) {
    if (auto value = find(name, rank)) return *value;
    if (steady_clock::now() > end) {
      throw std::runtime_error(fmt::format("nothing from rank {}", rank));
    }
    std::this_thread::sleep_for(kPause);
  }
}

void RankStore::require_answer(std::chrono::milliseconds limit) const {
  client_->find(key("rank", 0), limit);
}

int64_t RankStore::count(std::string_view name, int64_t rank) const {
  return client_->add(key(name, rank), 1);
}

}  // namespace trainer::dist
