// SPDX-License-Identifier: Apache-2.0
// The sum of gradients over all ranks, in the tree of base/parallel/shard_tree.h, takes two rounds:
// each rank is responsible for a segment of the floats. It receives that segment of all subtrees,
// adds them, and sends the sum to all. If each rank has one subtree, a rank sends 2 (N - 1) / N
// times the floats, as in a ring all-reduce, but in 2 rounds instead of 2 (N - 1). For short
// messages, latency dominates: then each rank sends all its floats to all, and each adds
// everything, in a single round. The tree is the same, and so are the bits.
//
// The first round of a piece begins when the piece is added, the second one when the next piece is
// added: so its messages are transferred while the next piece is computed.
#include "trainer/distributed/reduction.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace trainer::dist {
namespace {

constexpr int64_t kShortFloats = 1 << 14;  // about what a network transfers during its latency
constexpr int64_t kBlock = 1 << 10;  // floats that are added together, in the first level cache

/// Adds the values of all subtrees, for some of the floats at a time.
class TreeSum {
 public:
  /// `values` points to the floats of each of division.all_subtrees().
  TreeSum(const Division& division, const std::vector<const void*>& values)
      : division_(division), values_(values) {}

  void write(int64_t size, float* out) {
    for (int64_t begin = 0; begin < size; begin += kBlock) {
      const int64_t count = std::min(kBlock, size - begin);
      const float* sum = add({0, division_.num_shards()}, 0, begin, count, out + begin);
      if (sum != out + begin) std::copy_n(sum, count, out + begin);
    }
  }

 private:
  // Computes the sum over a subtree, and returns where it is: in the values of a leaf, or at `to`.
  const float* add(const ShardRange& range, std::size_t depth, int64_t begin, int64_t count,
                   float* to) {
    if (const auto leaf = find_subtree(division_.all_subtrees(), range)) {
      return static_cast<const float*>(values_[*leaf]) + begin;
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
  const std::vector<const void*>& values_;
  std::array<std::array<float, kBlock>, 2 * kMaxTreeDepths> memory_{};
};

// One round sends N / 2 times as much as two, and saves the latency of the second round. With two
// ranks it sends the same amount, but each of them adds everything.
bool is_one_round(const World& world, int64_t size) {
  const int64_t n = world.size();
  return n == 1 || (n - 1) * std::max<int64_t>(1, n - 2) * size <= kShortFloats;
}

// Returns the range of floats that a rank adds.
Segment segment_of(const World& world, int64_t rank, int64_t size) {
  if (is_one_round(world, size)) return {0, size};
  return dist::segment_of(rank, world.size(), size);
}

Message floats(int64_t rank, float* values, int64_t count) {
  return {
      .rank = rank, .data = values, .num_bytes = static_cast<std::size_t>(count) * sizeof(float)};
}

}  // namespace

void Reduction::add(std::span<float* const> mine, int64_t size, float* out) {
  if (num_added_ == pieces_.size()) pieces_.emplace_back();
  Piece& piece = pieces_[num_added_++];
  piece.size = size;
  piece.out = out;
  piece.values.clear();
  const Segment my_segment = segment_of(world_, world_.rank(), size);
  const std::size_t received_size =
      (division_.all_subtrees().size() - mine.size()) * static_cast<std::size_t>(my_segment.size());
  if (received_size > piece.received_size) {
    piece.received = std::make_unique_for_overwrite<float[]>(received_size);
    piece.received_size = received_size;
  }
  float* memory = piece.received.get();
  piece.values.reserve(division_.all_subtrees().size());  // messages point into it
  std::vector<Message> sent;
  std::vector<Message> received;
  for (int64_t r = 0; r < world_.size(); ++r) {
    if (r == world_.rank()) {
      for (const float* subtree : mine) piece.values.push_back(subtree + my_segment.begin);
      continue;
    }
    const Segment segment = segment_of(world_, r, size);
    for (float* const subtree : mine) {
      sent.push_back(floats(r, subtree + segment.begin, segment.size()));
    }
    for (std::size_t i = 0; i < division_.subtrees_of(r).size(); ++i) {
      received.push_back(floats(r, memory, my_segment.size()));
      piece.values.push_back(memory);
      // The sum overwrites its inputs. Only with two rounds have all other ranks read them before,
      // so only then may values stay in the memory of the sender.
      if (!is_one_round(world_, size)) received.back().view = &piece.values.back();
      memory += my_segment.size();
    }
  }
  piece.exchange = world_.start(sent, received);
  if (num_summed_ + 1 < num_added_) sum_next();
}

// Sums the segment of this rank for the oldest piece, and starts to send the result.
void Reduction::sum_next() {
  const Piece& piece = pieces_[num_summed_++];
  world_.finish(piece.exchange);
  const Segment mine = segment_of(world_, world_.rank(), piece.size);
  TreeSum(division_, piece.values).write(mine.size(), piece.out + mine.begin);
  if (is_one_round(world_, piece.size)) return;
  std::vector<Message> sent;
  std::vector<Message> received;
  for (int64_t r = 0; r < world_.size(); ++r) {
    if (r == world_.rank()) continue;
    const Segment other = segment_of(world_, r, piece.size);
    sent.push_back(floats(r, piece.out + mine.begin, mine.size()));
    received.push_back(floats(r, piece.out + other.begin, other.size()));
  }
  last_exchange_ = world_.start(sent, received);
}

void Reduction::finish() {
  while (num_summed_ < num_added_) sum_next();
  world_.finish(last_exchange_);
  num_added_ = 0;
  num_summed_ = 0;
}

}  // namespace trainer::dist
