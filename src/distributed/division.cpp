// SPDX-License-Identifier: Apache-2.0
#include "trainer/distributed/division.h"

#include <algorithm>

namespace trainer::dist {

Segment segment_of(int64_t rank, int64_t num_ranks, int64_t size) {
  constexpr int64_t kLineFloats = 16;
  const auto border = [&](int64_t r) {
    return r == num_ranks ? size : size * r / num_ranks / kLineFloats * kLineFloats;
  };
  return {border(rank), border(rank + 1)};
}

Division::Division(int64_t num_shards, int64_t rank, int64_t size)
    : num_shards_(num_shards), rank_(rank), mine_(shards_of_rank(rank, size, num_shards)) {
  for (int64_t r = 0; r < size; ++r) {
    subtrees_.push_back(trainer::subtrees_of(shards_of_rank(r, size, num_shards), num_shards));
    all_.insert(all_.end(), subtrees_.back().begin(), subtrees_.back().end());
    max_subtrees_ = std::max(max_subtrees_, subtrees_.back().size());
  }
}

int64_t Division::max_rows(int64_t num_rows) const {
  const auto size = std::ssize(subtrees_);
  const int64_t max_shards = (num_shards_ + size - 1) / size;
  return std::min(num_rows, (max_shards * num_rows + num_shards_ - 1) / num_shards_);
}

}  // namespace trainer::dist
