// SPDX-License-Identifier: Apache-2.0
#include "train/gradient_pieces.h"

#include <algorithm>

#include "trainer/base/parallel/shard_tree.h"

namespace trainer::train {
namespace {

constexpr int64_t kMaxFloats = 1 << 18;  // size of a piece of the rest, which finish() adds

}  // namespace

void GradientPieces::add(int64_t begin, int64_t count) noexcept {
  shared_.guard([&] {
    subtrees_.clear();
    for (const ShardRange& subtree : division_.my_subtrees()) {
      subtrees_.push_back(gradients_.at(subtree.begin - division_.mine().begin) + begin);
    }
    shared_.start_gradients(subtrees_, count, gradients_.first() + begin);
    added_.push_back({begin, begin + count});
  });
}

void GradientPieces::finish() noexcept {
  std::vector<Range> added;
  added.swap(added_);
  added.push_back({size_, size_});
  std::sort(added.begin(), added.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
  int64_t end = 0;
  for (const Range& range : added) {
    while (end < range.begin) {
      const int64_t count = std::min(range.begin - end, kMaxFloats);
      add(end, count);
      end += count;
    }
    end = range.end;
  }
  shared_.guard([&] { shared_.finish_gradients(); });
  added_.clear();
}

}  // namespace trainer::train
