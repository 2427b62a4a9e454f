// SPDX-License-Identifier: Apache-2.0
#include "train/step_passes.h"

#include <algorithm>

#include "trainer/base/parallel/shard_tree.h"
#include "trainer/nn/cpu/buffer.h"

namespace trainer::train {
namespace {

constexpr int64_t kLineFloats = 16;  // floats per cache line

// Describes to `pass` how its rows are divided into shards; its first row is `row` of the batch.
void set_rows(const dist::Division& division, int64_t num_batch_rows, int64_t row, StepPass& pass) {
  cpu::RowSums& sums = pass.sums;
  sums.num_shards = division.num_shards();
  sums.num_batch_rows = num_batch_rows;
  sums.shards = division.mine();
  sums.borders.clear();
  for (int64_t s = division.mine().begin; s <= division.mine().end; ++s) {
    sums.borders.push_back(std::clamp<int64_t>(
        shard_begin(s, division.num_shards(), num_batch_rows) - row, 0, pass.num_rows));
  }
  sums.subtrees = division.my_subtrees();
  sums.all_subtrees = division.all_subtrees();
}

void set_gradients(const dist::Division& division, const GradientMemory& gradients, bool is_single,
                   cpu::Accumulate accumulate, cpu::RowSums& sums) {
  sums.gradients.clear();
  const auto add = [&](const ShardRange& range) {
    sums.gradients.push_back({.shards = range,
                              .offset = gradients.offset(range.begin - division.mine().begin),
                              .accumulate = accumulate});
  };
  if (is_single) {
    for (const ShardRange& subtree : division.my_subtrees()) add(subtree);
  } else {
    for (int64_t s = division.mine().begin; s < division.mine().end; ++s) add({s, s + 1});
  }
}

// Plans the passes if each shard is normalized separately: for each shard, one pass per batch.
void plan_passes_of_shards(const Window& window, const dist::Division& division,
                           const GradientMemory& gradients, std::vector<StepPass>& passes) {
  passes.clear();
  for (int64_t index = 0; index < division.mine().size(); ++index) {
    const int64_t shard = division.mine().begin + index;
    for (int64_t begin = 0; begin < window.num_samples; begin += window.batch_size) {
      const int64_t num_rows = std::min(window.batch_size, window.num_samples - begin);
      const int64_t first = shard_begin(shard, division.num_shards(), num_rows);
      StepPass& pass = passes.emplace_back();
      pass.first_row = begin + first;
      pass.num_rows = shard_begin(shard + 1, division.num_shards(), num_rows) - first;
      pass.first_shard = index;
      pass.sums = cpu::sums_of_one_shard(pass.num_rows,
                                         begin == 0 ? cpu::Accumulate::kNo : cpu::Accumulate::kYes);
      pass.sums.gradients.front().offset = gradients.offset(index);
    }
  }
}

}  // namespace

GradientMemory::GradientMemory(const model::FlatParameters& flat, const dist::World& world,
                               const dist::Division& division)
    : stride_(cpu::ceil_div(flat.values.numel(), kLineFloats) * kLineFloats),
      first_(flat.gradients.data_ptr<float>()) {
  if (world.is_alone() && division.num_shards() == 1) return;
  const int64_t num_shards = std::max<int64_t>(1, division.mine().size());
  memory_ = world.allocate(static_cast<std::size_t>(num_shards * stride_) * sizeof(float));
  first_ = static_cast<float*>(memory_.get());
}

void GradientMemory::add_shards(const dist::Division& division, int64_t begin, int64_t end) const {
  const int64_t first = division.mine().begin;
  const auto add = [&](const auto& self, const ShardRange& range) -> void {
    if (range.size() == 1) return;
    const int64_t middle = middle_of(range);
    self(self, {range.begin, middle});
    self(self, {middle, range.end});
    float* to = at(range.begin - first);
    const float* from = at(middle - first);
    for (int64_t i = begin; i < end; ++i) to[i] += from[i];
  };
  for (const ShardRange& subtree : division.my_subtrees()) add(add, subtree);
}

void plan_passes(const Window& window, const dist::Division& division,
                 const GradientMemory& gradients, NormalizesOver over,
                 std::vector<StepPass>& passes) {
  if (over == NormalizesOver::kShard && division.mine().size() > 0) {
    return plan_passes_of_shards(window, division, gradients, passes);
  }
  std::size_t count = 0;
  for (int64_t begin = 0; begin < window.num_samples; begin += window.batch_size) {
    const int64_t num_rows = std::min(window.batch_size, window.num_samples - begin);
    int64_t row = shard_begin(division.mine().begin, division.num_shards(), num_rows);
    const int64_t end = shard_begin(division.mine().end, division.num_shards(), num_rows);
    do {  // even without rows, because the other processes wait for the sums of this one
      if (passes.size() == count) passes.emplace_back();
      StepPass& pass = passes[count++];
      pass.first_row = begin + row;
      pass.num_rows = std::min(window.max_rows(), end - row);
      pass.first_shard = 0;
      set_rows(division, num_rows, row, pass);
      row += pass.num_rows;
    } while (row < end);
  }
  passes.resize(count);
  for (StepPass& pass : passes) {
    const bool is_first = &pass == passes.data();
    set_gradients(division, gradients, count == 1,
                  is_first ? cpu::Accumulate::kNo : cpu::Accumulate::kYes, pass.sums);
  }
}

}  // namespace trainer::train
