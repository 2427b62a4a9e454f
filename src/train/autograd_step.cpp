// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <exception>
#include <iterator>
#include <span>
#include <vector>

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/full.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include "trainer/core/error.h"
#include "trainer/core/shard_tree.h"
#include "trainer/device/memory.h"
#include "trainer/device/timed_work.h"
#include "trainer/device/upload.h"
#include "trainer/model/gradient.h"
#include "trainer/schedule/loss_scale.h"
#include "trainer/train/step.h"

#include "train/gradient_exchange.h"
#include "train/running_statistics.h"
#include "train/shared_sums.h"

namespace trainer::train {
namespace {

class AutogradStep : public TrainStep {
 public:
  explicit AutogradStep(const StepContext& context)
      : context_(context),
        shared_(*context_.world, context_.division),
        statistics_(context_.model, context_.normalizes_over, shared_, context_.division) {
    optim::reserve(context_.optimizer, context_.model.parameters(), context_.optimizer_state);
  }

  StepStats run(const Window& window, const UpdateRates& rates) override {
    statistics_.save();
    StepStats stats;
    try {
      stats = add_shards(window);
    } catch (...) {
      statistics_.restore();
      throw;
    }
    if (stats.is_finite) {
      update(rates);
    } else {
      statistics_.restore();
    }
    return stats;
  }

  // Several processes have to tell each other their totals, which lie on the device.
  bool can_start() const override {
    return context_.world->is_alone() && !statistics_.are_per_shard();
  }

  void start(const Window& window, const UpdateRates& rates) override {
    Sums sums;
    compute_subtrees(window, sums);
    const std::vector<at::Tensor> numbers = collect_numbers(sums);
    at::Tensor row = row_of_results(std::ssize(started_), std::ssize(numbers));
    at::stack_out(row, numbers);
    update(rates);
    started_.push_back(facts_of(window));
  }

  std::vector<StepStats> finish() override {
    std::vector<StepStats> steps;
    if (started_.empty()) return steps;
    const at::Tensor read = read_all(results_.narrow(0, 0, std::ssize(started_)));
    const auto* row = read.data_ptr<float>();
    for (const Facts& facts : started_) {
      steps.push_back(stats_alone(facts, {row, static_cast<std::size_t>(read.size(1))}));
      row += read.size(1);
    }
    started_.clear();
    return steps;
  }

  void rehearse(const Window& window) override {
    statistics_.save();
    try {
      Sums sums;
      compute_subtrees(window, sums);
      read_all(zero());
    } catch (...) {
      statistics_.restore();
      throw;
    }
    statistics_.restore();
  }

  Evaluation evaluate(const ResidentData& data) override {
    return train::evaluate(context_.model, data, context_.loss, *context_.world);
  }

 private:
  /// Sums over the rows of each shard of this process; 0-d float32, on the device.
  struct Sums {
    std::vector<at::Tensor> losses;
    std::vector<at::Tensor> num_correct;
  };

  /// What is known of a step before it ran.
  struct Facts {
    int64_t num_samples = 0;
    double loss_scale = 1;
  };
  Facts facts_of(const Window& window) const { return {window.num_samples, loss_scale()}; }

  // All memory is there; but should an operation need some all the same, the weights are partly
  // updated.
  void update(const UpdateRates& rates) {
    const device::TimedDeviceWork timed(device(), Work::kUpdate);
    try {
      config::OptimizerConfig optimizer = context_.optimizer;
      optimizer.weight_decay *= rates.weight_decay_factor;
      optim::update(optimizer, rates.learning_rate, context_.model.parameters(),
                    context_.optimizer_state);
      optim::update_average(context_.ema_decay, context_.model.parameters(),
                            context_.optimizer_state);
    } catch (const std::exception& e) {
      if (!device::is_out_of_memory(e)) throw;
      throw Error(ErrorKind::kOutOfMemory,
                  "out of memory during the weight update; resume from the last checkpoint with a "
                  "smaller training.batch_size or on another device");
    }
  }

  c10::Device device() const { return context_.model.parameters().values.device(); }

  double loss_scale() const {
    return context_.loss_scale == nullptr ? 1 : context_.loss_scale->scale;
  }

  StepStats add_shards(const Window& window) {
    Sums sums;
    std::exception_ptr failure;
    try {
      compute_subtrees(window, sums);
    } catch (const std::exception& e) {
      // The other processes have to know.
      if (context_.world->is_alone() || !device::is_out_of_memory(e)) throw;
      failure = std::current_exception();
    }
    return context_.world->is_alone() ? finish_alone(window, sums) : finish(window, sums, failure);
  }

  // The gradient of each subtree of this process, from the last one to the first, whose stays in
  // the memory of the parameters' gradients.
  void compute_subtrees(const Window& window, Sums& sums) {
    model::FlatParameters& flat = context_.model.parameters();
    const std::vector<ShardRange>& subtrees = context_.division.my_subtrees();
    others_.resize(subtrees.empty() ? 0 : subtrees.size() - 1);
    sums.losses.resize(static_cast<std::size_t>(context_.division.mine().size()));
    sums.num_correct.resize(sums.losses.size());
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

  // What has been summed so far waits until it is added.
  void save_at(int64_t depth) {
    const at::Tensor& gradients = context_.model.parameters().gradients;
    const auto i = static_cast<std::size_t>(depth);
    if (tree_.size() <= i) tree_.push_back(at::empty_like(gradients));
    tree_[i].copy_(gradients);
  }

  // The gradient of the rows of one shard.
  void add_rows_of(int64_t shard, const Window& window, Sums& sums) {
    model::FlatParameters& flat = context_.model.parameters();
    const auto i = static_cast<std::size_t>(shard - context_.division.mine().begin);
    at::Tensor& loss = sums.losses[i];
    at::Tensor& num_correct = sums.num_correct[i];
    loss = num_correct = at::Tensor();
    const int64_t index = shard - context_.division.mine().begin;
    statistics_.load(index);
    const int64_t num_shards = context_.division.num_shards();
    for (int64_t batch = 0; batch < window.num_samples; batch += window.batch_size) {
      const int64_t num_rows = std::min(window.batch_size, window.num_samples - batch);
      const int64_t end = batch + shard_begin(shard + 1, num_shards, num_rows);
      for (int64_t row = batch + shard_begin(shard, num_shards, num_rows); row < end;
           row += window.max_rows()) {
        const model::BatchResult result =
            add_batch(window, row, std::min(window.max_rows(), end - row),
                      loss.defined() ? model::Accumulate::kYes : model::Accumulate::kNo);
        add(result.loss_sum, loss);
        add(result.num_correct, num_correct);
      }
    }
    if (!loss.defined()) flat.gradients.zero_();  // it has no rows
    if (loss_scale() != 1) flat.gradients.mul_(1 / loss_scale());
    statistics_.store(index);
    if (!loss.defined()) loss = zero();
    if (!num_correct.defined()) num_correct = zero();
  }

  static void add(const at::Tensor& number, at::Tensor& sum) {
    if (sum.defined()) {
      sum.add_(number);
    } else {
      sum = number;
    }
  }

  const at::Tensor& zero() {
    if (!zero_.defined()) zero_ = at::zeros({}, context_.model.parameters().values.options());
    return zero_;
  }

  // Made again only when it changes: most steps have the same.
  const at::Tensor& gradient_scale(const Window& window) {
    const double scale = loss_scale() / static_cast<double>(window.num_samples);
    if (scale != scale_) {
      scale_tensor_ = at::full({}, scale, context_.model.parameters().values.options());
      scale_ = scale;  // only now: memory may have run out
    }
    return scale_tensor_;
  }

  static Batch timed_gather(const Window& window, int64_t begin, int64_t count) {
    const device::TimedDeviceWork timed(window.order.device(), Work::kGather);
    return gather(window.data, window.rows(begin, count));
  }

  // Adds the gradient of these rows, as a fraction of the mean loss of the window.
  model::BatchResult add_batch(const Window& window, int64_t begin, int64_t count,
                               model::Accumulate accumulate) {
    const Batch batch = timed_gather(window, begin, count);
    return model::compute_gradient(context_.model,
                                   {.features = batch.features,
                                    .targets = batch.targets,
                                    .loss = context_.loss,
                                    .scale = gradient_scale(window),
                                    .noise = {.seed = window.dropout_seed,
                                              .first_row = begin,
                                              .dropout_factor = window.dropout_factor,
                                              .uploads = &uploads_}},
                                   accumulate);
  }

  // Clips the gradient. All that is to be known of a step: norm of the gradient, sum of the
  // buffers, Sums::losses, Sums::num_correct.
  std::vector<at::Tensor> collect_numbers(const Sums& sums) {
    statistics_.take_mean();
    std::vector<at::Tensor> numbers = {clip_gradients(), sum_of_buffers()};
    numbers.insert(numbers.end(), sums.losses.begin(), sums.losses.end());
    numbers.insert(numbers.end(), sums.num_correct.begin(), sums.num_correct.end());
    return numbers;
  }

  // `numbers` of collect_numbers(), of a process alone.
  StepStats stats_alone(const Facts& facts, std::span<const float> numbers) {
    shared_.start_totals(totals(numbers.data() + 2, std::ssize(numbers) / 2 - 1), nullptr);
    return stats(facts, shared_.finish_totals(), numbers[0], numbers[1]);
  }

  // Reads all numbers together: a step waits for the device only here.
  StepStats finish_alone(const Window& window, const Sums& sums) {
    const at::Tensor read = read_all(at::stack(collect_numbers(sums)));
    return stats_alone(facts_of(window),
                       {read.data_ptr<float>(), static_cast<std::size_t>(read.numel())});
  }

  // Brings the last result to the CPU, which waits for all work of the device.
  at::Tensor read_all(const at::Tensor& last) {
    at::Tensor read = last.cpu();
    uploads_.clear();
    return read;
  }

  // Where step `index` of those that were started puts its numbers.
  at::Tensor row_of_results(int64_t index, int64_t size) {
    if (!results_.defined()) {
      constexpr int64_t kFirst = 16;
      results_ = at::empty({kFirst, size}, context_.model.parameters().values.options());
    } else if (index == results_.size(0)) {
      results_ = at::cat({results_, results_});
    }
    return results_.select(0, index);
  }

  at::Tensor clip_gradients() {
    const device::TimedDeviceWork timed(device(), Work::kGradientNorm);
    return optim::clip_gradients(context_.model.parameters(), context_.clip_norm);
  }

  void share_gradients() {
    const device::TimedDeviceWork timed(device(), Work::kReduce);
    if (context_.world->all_to_all()) {
      share_on_device(*context_.world, context_.division, context_.model.parameters(), others_);
    } else {
      share_on_cpu(shared_, context_.division, context_.model.parameters(), others_);
    }
  }

  StepStats finish(const Window& window, const Sums& sums, const std::exception_ptr& failure) {
    std::vector<at::Tensor> numbers = sums.losses;
    numbers.insert(numbers.end(), sums.num_correct.begin(), sums.num_correct.end());
    std::vector<ShardTotals> mine;
    at::Tensor read;
    if (!failure && !numbers.empty()) {
      read = at::stack(numbers).cpu();
      mine = totals(read.data_ptr<float>(), std::ssize(sums.losses));
    }
    shared_.start_totals(mine, failure);
    const SharedSums::Step step = shared_.finish_totals();
    statistics_.take_mean();
    share_gradients();
    const at::Tensor grad_norm = clip_gradients();
    read = read_all(at::stack({grad_norm, sum_of_buffers()}));
    return stats(facts_of(window), step, read.data_ptr<float>()[0], read.data_ptr<float>()[1]);
  }

  // `values`: the losses of `num_shards` shards, then their numbers of right predictions.
  static std::vector<ShardTotals> totals(const float* values, int64_t num_shards) {
    std::vector<ShardTotals> totals;
    totals.reserve(static_cast<std::size_t>(num_shards));
    for (int64_t i = 0; i < num_shards; ++i) {
      totals.push_back(
          {static_cast<double>(values[i]), static_cast<double>(values[num_shards + i])});
    }
    return totals;
  }

  // Finite only if all buffers are.
  at::Tensor sum_of_buffers() {
    const at::Tensor& buffers = context_.model.buffer_values();
    return buffers.defined() ? buffers.sum() : zero();
  }

  static StepStats stats(const Facts& facts, const SharedSums::Step& step, float grad_norm,
                         float sum_of_buffers) {
    const auto loss_sum = static_cast<float>(step.totals.loss);
    const bool is_finite = std::isfinite(grad_norm + loss_sum + sum_of_buffers);
    return {.loss_sum = loss_sum,
            .num_correct = static_cast<int64_t>(step.totals.num_correct),
            .grad_norm = grad_norm,
            .num_samples = facts.num_samples,
            .is_finite = is_finite,
            .has_overflowed = !is_finite && std::isfinite(loss_sum + sum_of_buffers) &&
                              facts.loss_scale > schedule::kMinLossScale,
            .requests = step.requests};
  }

  StepContext context_;
  SharedSums shared_;
  RunningStatistics statistics_;
  std::vector<at::Tensor> tree_;    // sums that wait, by depth
  std::vector<at::Tensor> others_;  // gradients of the subtrees of this process after the first
  at::Tensor zero_;
  double scale_ = 0;
  at::Tensor scale_tensor_;  // 0-d, of the loss
  device::Uploads uploads_;
  std::vector<Facts> started_;  // steps whose results have not been read
  at::Tensor results_;          // [rows, numbers] their numbers, on the device
};

}  // namespace

std::unique_ptr<TrainStep> make_autograd_step(const StepContext& context) {
  return std::make_unique<AutogradStep>(context);
}

}  // namespace trainer::train
