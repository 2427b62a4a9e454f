// SPDX-License-Identifier: Apache-2.0
#include "train/shard_gradients.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>

#include "trainer/base/parallel/shard_tree.h"
#include "trainer/torch/device/threads.h"

namespace trainer::train {
namespace {

void add(const at::Tensor& number, at::Tensor& sum) {
  if (sum.defined()) {
    sum.add_(number);
  } else {
    sum = number;
  }
}

// Writes the number to the device only if it changes; most steps have the same number.
void set_number(double value, const at::TensorOptions& options, at::Tensor& number, double& known) {
  if (!number.defined()) number = at::empty({}, options);
  if (value == known) return;
  number.fill_(value);
  known = value;
}

Batch timed_gather(const Window& window, int64_t begin, int64_t count) {
  const device::TimedDeviceWork timed(window.order.device(), Work::kGather);
  return gather(window.data, window.rows(begin, count));
}

model::DropoutNoise noise_of(const Window& window, int64_t begin) {
  return {.seed = window.dropout_seed, .first_row = begin, .dropout_factor = window.dropout_factor};
}

}  // namespace

const at::Tensor& ShardGradients::zero() {
  if (!zero_.defined()) zero_ = at::zeros({}, context_.model.parameters().values.options());
  return zero_;
}

double ShardGradients::loss_scale() const {
  return context_.loss_scale == nullptr ? 1 : context_.loss_scale->scale;
}

void ShardGradients::compute(const Window& window, Sums& sums) {
  model::FlatParameters& flat = context_.model.parameters();
  const std::vector<ShardRange>& subtrees = context_.division.my_subtrees();
  others_.resize(subtrees.empty() ? 0 : subtrees.size() - 1);
  sums.losses.resize(static_cast<std::size_t>(context_.division.mine().size()));
  sums.num_correct.resize(sums.losses.size());
  // The loop goes from the last subtree to the first, whose gradient stays in the memory of the
  // parameters.
  for (std::size_t i = subtrees.size(); i-- > 0;) {
    sum_tree(
        subtrees[i], 0, is_single_shard,
        [&](const ShardRange& shard, int64_t depth) {
          if (depth > 0) save_at(depth - 1);
          add_rows_of(shard.begin, window, sums);
        },
        [&](int64_t depth) { flat.gradients.add_(tree_[static_cast<std::size_t>(depth)]); });
    if (i > 0) others_[i - 1] = flat.gradients.clone();
  }
}

// Saves the sum so far until it is added, because the next shard overwrites the gradients.
void ShardGradients::save_at(int64_t depth) {
  const at::Tensor& gradients = context_.model.parameters().gradients;
  const auto i = static_cast<std::size_t>(depth);
  if (tree_.size() <= i) tree_.push_back(at::empty_like(gradients));
  tree_[i].copy_(gradients);
}

// Computes the gradient of the rows of one shard.
void ShardGradients::add_rows_of(int64_t shard, const Window& window, Sums& sums) {
  const int64_t index = shard - context_.division.mine().begin;
  at::Tensor& loss = sums.losses[static_cast<std::size_t>(index)];
  at::Tensor& num_correct = sums.num_correct[static_cast<std::size_t>(index)];
  loss = num_correct = at::Tensor();
  statistics_.load(index);
  const int64_t num_shards = context_.division.num_shards();
  for (int64_t batch = 0; batch < window.num_samples; batch += window.batch_size) {
    const int64_t num_rows = std::min(window.batch_size, window.num_samples - batch);
    const int64_t end = batch + shard_begin(shard + 1, num_shards, num_rows);
    for (int64_t row = batch + shard_begin(shard, num_shards, num_rows); row < end;
         row += window.max_rows()) {
      const int64_t count = std::min(window.max_rows(), end - row);
      prepare(window, row, count);
      const model::BatchResult result = add_batch(
          window, row, count, loss.defined() ? model::Accumulate::kYes : model::Accumulate::kNo);
      add(result.loss_sum, loss);
      add(result.num_correct, num_correct);
    }
  }
  if (loss.defined()) {
    undo_loss_scale();
  } else {
    context_.model.parameters().gradients.zero_();  // the shard has no rows
    loss = zero();
  }
  statistics_.store(index);
  if (!num_correct.defined()) num_correct = zero();
}

ShardGradients::Sums ShardGradients::compute_pass(const Window& window) {
  const model::BatchResult result =
      add_batch(window, 0, window.num_samples, model::Accumulate::kNo);
  undo_loss_scale();
  return {{result.loss_sum}, {result.num_correct.defined() ? result.num_correct : zero()}};
}

void ShardGradients::undo_loss_scale() {
  if (context_.loss_scale != nullptr) context_.model.parameters().gradients.mul_(inverse_scale_);
}

void ShardGradients::prepare(const Window& window, int64_t begin, int64_t count) {
  const at::TensorOptions options = context_.model.parameters().values.options();
  set_number(loss_scale() / static_cast<double>(window.num_samples), options, scale_, scale_value_);
  if (context_.loss_scale != nullptr) {
    set_number(1 / loss_scale(), options, inverse_scale_, inverse_scale_value_);
  }
  // On the CPU the passes draw their dropout noise themselves.
  if (options.device().is_cpu()) return;
  const device::TimedDeviceWork timed(options.device(), Work::kGather);
  masks_->draw(context_.model.spec(), noise_of(window, begin), count, options.device(), &uploads_);
}

// Computes the gradient of these rows' part of the mean loss of the window.
model::BatchResult ShardGradients::add_batch(const Window& window, int64_t begin, int64_t count,
                                             model::Accumulate accumulate) {
  const Batch batch = timed_gather(window, begin, count);
  model::DropoutNoise noise = noise_of(window, begin);
  if (!batch.features.is_cpu()) noise.masks = masks_;
  return model::compute_gradient(context_.model,
                                 {.features = batch.features,
                                  .targets = batch.targets,
                                  .loss = context_.loss,
                                  .scale = scale_,
                                  .noise = noise},
                                 accumulate);
}

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
