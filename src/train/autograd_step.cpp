// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <exception>
#include <iterator>
#include <span>
#include <vector>

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/stack.h>

#include "trainer/base/error.h"
#include "trainer/nn/schedule/loss_scale.h"
#include "trainer/torch/device/memory.h"
#include "trainer/torch/device/threads.h"
#include "trainer/train/step.h"

#include "train/shard_gradients.h"
#include "train/shared_sums.h"
#include "train/step_graph.h"

namespace trainer::train {
namespace {

class AutogradStep : public TrainStep {
 public:
  explicit AutogradStep(const StepContext& context)
      : context_(context),
        shared_(*context_.world, context_.division),
        statistics_(context_.model, context_.normalizes_over, shared_, context_.division),
        gradients_(context_, statistics_),
        graph_(pass_functions(), context_.cuda_graphs) {
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

  // Several processes have to exchange their totals, which requires to read them from the device.
  bool can_start() const override {
    return context_.world->is_alone() && !statistics_.are_per_shard();
  }

  void start(const Window& window, const UpdateRates& rates) override {
    at::Tensor row = row_of_results(std::ssize(started_));
    if (!gradients_.is_one_pass(window) || !graph_.run(window, row)) {
      ShardGradients::Sums sums;
      gradients_.compute(window, sums);
      at::stack_out(row, collect_numbers(sums));
    }
    update(rates);
    started_.push_back(facts_of(window));
  }

  std::vector<StepStats> finish() override {
    std::vector<StepStats> steps;
    if (started_.empty()) return steps;
    // Only the last update needs a check: after any other one, the results of the next step show
    // whether the weights were finite.
    at::Tensor largest_weight = row_of_results(std::ssize(started_)).select(0, 0);
    at::linalg_vector_norm_out(largest_weight, context_.model.parameters().values, INFINITY);
    const at::Tensor read = read_all(results_.narrow(0, 0, std::ssize(started_) + 1));
    const auto* row = read.data_ptr<float>();
    for (const Facts& facts : started_) {
      steps.push_back(stats_alone(facts, {row, static_cast<std::size_t>(read.size(1))}));
      row += read.size(1);
    }
    started_.clear();
    if (!std::isfinite(*row)) steps.back().is_finite = false;
    return steps;
  }

  void rehearse(const Window& window) override {
    statistics_.save();
    try {
      ShardGradients::Sums sums;
      gradients_.compute(window, sums);
      read_all(gradients_.zero());
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
  /// What the host knows about a step without its results.
  struct Facts {
    int64_t num_samples = 0;
    double loss_scale = 1;
  };
  Facts facts_of(const Window& window) const {
    return {window.num_samples, gradients_.loss_scale()};
  }

  PassFunctions pass_functions() {
    PassFunctions functions;
    functions.prepare = [this](const Window& window) { gradients_.prepare_pass(window); };
    functions.compute = [this](const Window& window, at::Tensor& numbers) {
      at::stack_out(numbers, collect_numbers(gradients_.compute_pass(window)));
    };
    functions.results = {context_.model.parameters().gradients};
    if (const at::Tensor& buffers = context_.model.buffer_values(); buffers.defined()) {
      functions.results.push_back(buffers);
      functions.updated.push_back(buffers);
    }
    return functions;
  }

  // The update needs no new memory. If an operation allocates some nevertheless and memory runs
  // out, the weights are partly updated, and the step cannot be repeated.
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

  StepStats add_shards(const Window& window) {
    ShardGradients::Sums sums;
    std::exception_ptr failure;
    try {
      gradients_.compute(window, sums);
    } catch (const std::exception& e) {
      // finish() reports the failure to the other processes, so that they throw too.
      if (context_.world->is_alone() || !device::is_out_of_memory(e)) throw;
      failure = std::current_exception();
    }
    return context_.world->is_alone() ? finish_alone(window, sums) : finish(window, sums, failure);
  }

  // Clips the gradient. Returns all results of a step as 0-d tensors: norm of the gradient, sum of
  // the buffers, then the losses and the numbers of correct predictions of the shards.
  std::vector<at::Tensor> collect_numbers(const ShardGradients::Sums& sums) {
    statistics_.take_mean();
    std::vector<at::Tensor> numbers = {clip_gradients(), sum_of_buffers()};
    numbers.insert(numbers.end(), sums.losses.begin(), sums.losses.end());
    numbers.insert(numbers.end(), sums.num_correct.begin(), sums.num_correct.end());
    return numbers;
  }

  // Computes the results of a step of a single process from the values of collect_numbers().
  StepStats stats_alone(const Facts& facts, std::span<const float> numbers) {
    shared_.start_totals(totals(numbers.data() + 2, std::ssize(numbers) / 2 - 1), nullptr);
    return stats(facts, shared_.finish_totals(), numbers[0], numbers[1]);
  }

  // Reads all numbers together: a step waits for the device only here.
  StepStats finish_alone(const Window& window, const ShardGradients::Sums& sums) {
    const at::Tensor read = read_all(at::stack(collect_numbers(sums)));
    return stats_alone(facts_of(window),
                       {read.data_ptr<float>(), static_cast<std::size_t>(read.numel())});
  }

  // Brings the last result to the CPU, which waits for all work of the device.
  at::Tensor read_all(const at::Tensor& last) {
    at::Tensor read = last.cpu();
    gradients_.forget_uploads();
    return read;
  }

  // The row of results_ in which step `index` of the started steps stores its numbers.
  at::Tensor row_of_results(int64_t index) {
    if (!results_.defined()) {
      constexpr int64_t kFirst = 16;
      const int64_t size = 2 + 2 * context_.division.mine().size();
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
      share_on_device(*context_.world, context_.division, context_.model.parameters(),
                      gradients_.others());
    } else {
      share_on_cpu(shared_, context_.division, context_.model.parameters(), gradients_.others());
    }
  }

  StepStats finish(const Window& window, const ShardGradients::Sums& sums,
                   const std::exception_ptr& failure) {
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

  // `values` are the losses of `num_shards` shards, then their numbers of correct predictions.
  static std::vector<ShardTotals> totals(const float* values, int64_t num_shards) {
    std::vector<ShardTotals> totals;
    totals.reserve(static_cast<std::size_t>(num_shards));
    for (int64_t i = 0; i < num_shards; ++i) {
      totals.push_back(
          {static_cast<double>(values[i]), static_cast<double>(values[num_shards + i])});
    }
    return totals;
  }

  // The sum is finite only if all buffers are.
  at::Tensor sum_of_buffers() {
    const at::Tensor& buffers = context_.model.buffer_values();
    return buffers.defined() ? buffers.sum() : gradients_.zero();
  }

  static StepStats stats(const Facts& facts, const SharedSums::Step& step, float grad_norm,
                         float sum_of_buffers) {
    const auto loss_sum = static_cast<float>(step.totals.loss);
    const bool is_count = std::isfinite(step.totals.num_correct);  // not so on a broken device
    const bool is_finite = is_count && std::isfinite(grad_norm + loss_sum + sum_of_buffers);
    return {.loss_sum = loss_sum,
            .num_correct = is_count ? static_cast<int64_t>(step.totals.num_correct) : 0,
            .grad_norm = grad_norm,
            .num_samples = facts.num_samples,
            .is_finite = is_finite,
            .has_overflowed = is_count && !is_finite && std::isfinite(loss_sum + sum_of_buffers) &&
                              facts.loss_scale > schedule::kMinLossScale,
            .requests = step.requests};
  }

  StepContext context_;
  SharedSums shared_;
  RunningStatistics statistics_;
  ShardGradients gradients_;
  StepGraph graph_;
  std::vector<Facts> started_;  // steps whose results have not been read
  at::Tensor results_;          // [steps, numbers] results of these steps, on the device
};

}  // namespace

std::unique_ptr<TrainStep> make_autograd_step(const StepContext& context) {
  return std::make_unique<AutogradStep>(context);
}

}  // namespace trainer::train
