// SPDX-License-Identifier: Apache-2.0
#include "train/gradient_pieces.h"

#include <algorithm>

#include "trainer/base/parallel/shard_tree.h"
#include "trainer/distributed/world.h"

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

void share_on_cpu(SharedSums& shared, const dist::Division& division, model::FlatParameters& flat,
                  const std::vector<at::Tensor>& others) {
  std::vector<at::Tensor> on_cpu = {flat.gradients.cpu()};
  for (const at::Tensor& other : others) on_cpu.push_back(other.cpu());
  std::vector<float*> subtrees;
  subtrees.reserve(on_cpu.size());
  for (const at::Tensor& gradient : on_cpu) subtrees.push_back(gradient.data_ptr<float>());
  subtrees.resize(division.my_subtrees().size());
  shared.start_gradients(subtrees, flat.num_trained, on_cpu.front().data_ptr<float>());
  shared.finish_gradients();
  flat.gradients.copy_(on_cpu.front());
}

void share_on_device(dist::World& world, const dist::Division& division,
                     const model::FlatParameters& flat, const std::vector<at::Tensor>& others) {
  std::vector<at::Tensor> subtrees = {trained_range(flat, flat.gradients)};
  for (const at::Tensor& other : others) subtrees.push_back(trained_range(flat, other));
  subtrees.resize(division.my_subtrees().size());
  dist::sum_on_device(division, world.all_to_all(), subtrees, trained_range(flat, flat.gradients));
}

}  // namespace trainer::train
