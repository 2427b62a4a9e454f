// SPDX-License-Identifier: Apache-2.0
#include "train/running_statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

namespace trainer::train {

RunningStatistics::RunningStatistics(const model::Network& model, NormalizesOver over,
                                     SharedSums& shared, const dist::Division& division)
    : values_(model.buffer_values()), shared_(shared), division_(division) {
  if (!values_.defined()) return;
  saved_ = at::empty_like(values_);
  if (over == NormalizesOver::kBatch || division.num_shards() == 1) return;
  shards_ = at::empty({division.mine().size(), values_.numel()}, values_.options());
}

void RunningStatistics::save() {
  if (!values_.defined()) return;
  saved_.copy_(values_);
  if (are_per_shard()) shards_.copy_(values_.expand_as(shards_));
}

void RunningStatistics::restore() {
  if (values_.defined()) values_.copy_(saved_);
}

bool RunningStatistics::are_finite() const {
  if (!values_.defined()) return true;
  const auto* values = values_.data_ptr<float>();
  return std::all_of(values, values + values_.numel(), [](float v) { return std::isfinite(v); });
}

// A process without shards has nothing to load or store.
void RunningStatistics::load(int64_t index) {
  if (are_per_shard() && index < shards_.size(0)) values_.copy_(shards_[index]);
}

void RunningStatistics::store(int64_t index) {
  if (are_per_shard() && index < shards_.size(0)) shards_[index].copy_(values_);
}

void RunningStatistics::take_mean() {
  if (!are_per_shard()) return;
  const at::Tensor mine = shards_.to(at::kCPU, at::kDouble);
  std::vector<double> sum =
      shared_.sum({mine.data_ptr<double>(), static_cast<std::size_t>(mine.numel())},
                  static_cast<std::size_t>(values_.numel()));
  at::Tensor mean = at::empty(values_.sizes(), values_.options().device(at::kCPU));
  std::transform(sum.begin(), sum.end(), mean.data_ptr<float>(), [&](double value) {
    return static_cast<float>(value / static_cast<double>(division_.num_shards()));
  });
  values_.copy_(mean);
}

}  // namespace trainer::train
