// SPDX-License-Identifier: Apache-2.0
// The sum of gradients over all ranks, in the tree of core/shard_tree.h. In two rounds: each rank
// is responsible for a segment of the floats. It receives that segment of all subtrees, adds them,
// and sends the sum to all. Where each rank has one subtree, a rank sends 2 (N - 1) / N times the
// floats, as in a ring all-reduce, but in 2 rounds and not in 2 (N - 1). With two ranks one round
// sends as much, and short messages take as long as shorter ones: then each rank sends all it has
// to all, and each adds everything. The tree is the same, and so are the bits.
#include <algorithm>
#include <array>
#include <cstddef>

#include "trainer/dist/world.h"

namespace trainer::dist {
namespace {

constexpr int64_t kLineFloats = 16;        // of a cache line
constexpr int64_t kShortFloats = 1 << 14;  // that are sent to all
constexpr int64_t kBlock = 1 << 10;  // floats that are added together, in the first level cache

/// Adds the values of all subtrees, for some of the floats at a time.
class TreeSum {
 public:
  /// `values`: of each of division.all_subtrees(), the first of `size` floats.
  TreeSum(const Division& division, const std::vector<const float*>& values)
      : division_(division), values_(values) {}

  void write(int64_t size, float* out) {
    for (int64_t begin = 0; begin < size; begin += kBlock) {
      const int64_t count = std::min(kBlock, size - begin);
      const float* sum = add({0, division_.num_shards()}, 0, begin, count, out + begin);
      if (sum != out + begin) std::copy_n(sum, count, out + begin);
    }
  }

 private:
  // Where the sum over a subtree is: a value, or `to`.
  const float* add(const ShardRange& range, std::size_t depth, int64_t begin, int64_t count,
                   float* to) {
    const std::vector<ShardRange>& all = division_.all_subtrees();
    const auto leaf = std::lower_bound(
        all.begin(), all.end(), range,
        [](const ShardRange& a, const ShardRange& b) { return a.begin < b.begin; });
    if (leaf != all.end() && *leaf == range) {
      return values_[static_cast<std::size_t>(leaf - all.begin())] + begin;
    }
    const int64_t middle = middle_of(range);
    const float* left =
        add({range.begin, middle}, depth + 1, begin, count, memory_[2 * depth].data());
    const float* right =
        add({middle, range.end}, depth + 1, begin, count, memory_[2 * depth + 1].data());
    for (int64_t i = 0; i < count; ++i) to[i] = left[i] + right[i];
    return to;
  }

  const Division& division_;
  const std::vector<const float*>& values_;
  std::array<std::array<float, kBlock>, 2 * kMaxTreeDepths> memory_{};
};

/// Floats [begin, end).
struct Segment {
  int64_t begin = 0;
  int64_t end = 0;

  int64_t size() const { return end - begin; }
};

Segment segment_of(int64_t rank, int64_t num_ranks, int64_t size) {
  const auto border = [&](int64_t r) {
    return r == num_ranks ? size : size * r / num_ranks / kLineFloats * kLineFloats;
  };
  return {border(rank), border(rank + 1)};
}

Message floats(int64_t rank, float* values, int64_t count) {
  return {rank, values, static_cast<std::size_t>(count) * sizeof(float)};
}

}  // namespace

void World::sum(const Division& division, std::span<float* const> mine, int64_t size, float* out) {
  if (is_alone()) {
    if (mine.front() != out) std::copy_n(mine.front(), size, out);
    return;
  }
  const bool is_one_round = size_ == 2 || size <= kShortFloats;
  const auto segment = [&](int64_t rank) {
    return is_one_round ? Segment{0, size} : segment_of(rank, size_, size);
  };
  const Segment my_segment = segment(rank_);
  received_.resize((division.all_subtrees().size() - mine.size()) *
                   static_cast<std::size_t>(my_segment.size()));
  float* memory = received_.data();
  std::vector<Message> sent;
  std::vector<Message> received;
  std::vector<const float*> values;
  for (int64_t r = 0; r < size_; ++r) {
    if (r == rank_) {
      for (const float* subtree : mine) values.push_back(subtree + my_segment.begin);
      continue;
    }
    for (float* const subtree : mine) {
      sent.push_back(floats(r, subtree + segment(r).begin, segment(r).size()));
    }
    for (std::size_t i = 0; i < division.subtrees_of(r).size(); ++i) {
      received.push_back(floats(r, memory, my_segment.size()));
      values.push_back(memory);
      memory += my_segment.size();
    }
  }
  transport_->exchange(sent, received, Patience::kForStep);
  TreeSum(division, values).write(my_segment.size(), out + my_segment.begin);
  if (is_one_round) return;
  std::vector<std::size_t> begins;
  begins.reserve(static_cast<std::size_t>(size_ + 1));
  for (int64_t r = 0; r < size_; ++r) {
    begins.push_back(static_cast<std::size_t>(segment(r).begin) * sizeof(float));
  }
  begins.push_back(static_cast<std::size_t>(size) * sizeof(float));
  gather_parts(std::as_writable_bytes(std::span(out, static_cast<std::size_t>(size))), begins);
}

}  // namespace trainer::dist
