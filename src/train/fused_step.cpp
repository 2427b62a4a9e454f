// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "trainer/base/parallel/shard_tree.h"
#include "trainer/base/time/stopwatch.h"
#include "trainer/base/time/timeline.h"
#include "trainer/nn/cpu/buffer.h"
#include "trainer/nn/cpu/losses.h"
#include "trainer/nn/cpu/network.h"
#include "trainer/train/step.h"

#include "train/evaluate.h"
#include "train/shard_gradients.h"
#include "train/shared_sums.h"
#include "train/step_passes.h"

namespace trainer::train {
namespace {

constexpr int64_t kChunk = 8192;  // parameters that a thread updates at a time
// The fewest rows of a batch that the network must have memory for.
constexpr int64_t kMinEvaluationRows = 256;

// Returns the memory of the tensors of the network, in the order of network::tensors(). Gradients
// go to `gradients`, which has the layout of the parameters.
std::vector<cpu::TensorMemory> tensor_memory(const model::Network& network, float* gradients) {
  const model::FlatParameters& flat = network.parameters();
  std::vector<cpu::TensorMemory> tensors;
  tensors.reserve(flat.specs.size());
  for (std::size_t i = 0; i < flat.specs.size(); ++i) {
    tensors.push_back({.value = flat.values.data_ptr<float>() + flat.offsets[i],
                       .update = flat.is_trained[i] ? gradients + flat.offsets[i] : nullptr});
  }
  for (const model::NamedTensor& buffer : network.buffers()) {
    auto* values = buffer.tensor.data_ptr<float>();
    tensors.push_back({.value = values, .update = values});
  }
  return tensors;
}

cpu::GatherSource gather_source(const ResidentData& data) {
  cpu::GatherSource source;
  if (data.features.scalar_type() == at::kByte) {
    source.bytes = data.features.data_ptr<uint8_t>();
  } else {
    source.floats = data.features.data_ptr<float>();
  }
  source.num_features = data.features.size(1);
  source.shift = data.shift.data_ptr<float>();
  source.scale = data.scale.data_ptr<float>();
  if (data.inverse_limit.defined()) source.inverse_limit = data.inverse_limit.data_ptr<float>();
  return source;
}

class FusedStep : public TrainStep {
 public:
  FusedStep(const StepContext& context, int64_t max_rows, int64_t num_threads)
      : context_(context),
        kernels_(cpu::kernels()),
        team_(num_threads),
        gradients_(context.model.parameters(), *context.world, context.division),
        network_(context.model.spec(), tensor_memory(context.model, gradients_.first()),
                 std::max(max_rows, kMinEvaluationRows), context.division.num_shards(), team_,
                 kernels_, context.model.options().precision),
        num_members_(network::num_members(context.model.spec())),
        shared_(*context_.world, context_.division),
        statistics_(context_.model, context_.normalizes_over, shared_, context_.division),
        pieces_(shared_, gradients_, context_.division, context.model.parameters().num_trained),
        losses_(static_cast<std::size_t>(network_.max_rows() * num_members_)),
        correct_(losses_.size()),
        values_(losses_.size() * static_cast<std::size_t>(context.model.spec().num_outputs)),
        square_sums_(static_cast<std::size_t>(
            cpu::ceil_div(context.model.parameters().num_trained, kChunk))) {}

  StepStats run(const Window& window, const UpdateRates& rates) override {
    StepStats stats;
    stats.num_samples = window.num_samples;
    prepare(window, Shares::kYes);
    const bool is_alone = context_.world->is_alone();
    team_.run([&](int64_t thread) {
      compute_gradient(thread, window);
      if (!is_alone || statistics_.are_per_shard()) {
        team_.parallel_for(thread, 1, [&](int64_t) { finish_sums(); });
      }
      sum_statistics(thread, stats);
      if (stats.is_finite) update(thread, stats.grad_norm, rates);
    });
    shared_.rethrow_failure();
    if (stats.is_finite) {
      ++context_.optimizer_state.step;
    } else {
      statistics_.restore();
    }
    return stats;
  }

  void rehearse(const Window& window) override {
    prepare(window, Shares::kNo);
    team_.run([&](int64_t thread) { compute_gradient(thread, window); });
    shared_.rethrow_failure();
    statistics_.restore();
  }

  Evaluation evaluate(const ResidentData& data) override {
    const Stopwatch stopwatch;
    EvaluatedRows rows(data.size(), context_.model.spec().num_outputs, *context_.world);
    all_rows_.resize(static_cast<std::size_t>(rows.end() - rows.begin()));
    std::iota(all_rows_.begin(), all_rows_.end(), rows.begin());
    train::require_intact(data, all_rows_);
    team_.run([&](int64_t thread) {
      for (int64_t begin = rows.begin(); begin < rows.end(); begin += network_.max_rows()) {
        infer(thread, data,
              {.source = gather_source(data),
               .rows = all_rows_.data() + begin - rows.begin(),
               .num_rows = std::min(network_.max_rows(), rows.end() - begin)},
              begin, rows);
      }
    });
    Evaluation result = rows.gather();
    result.time_seconds = stopwatch.seconds();
    return result;
  }

  std::optional<int64_t> activation_bytes() const override { return network_.memory_bytes(); }

 private:
  // Whether the gradient is added to the gradients of other processes.
  enum class Shares { kNo, kYes };

  void prepare(const Window& window, Shares shares) {
    require_intact(window);
    statistics_.save();
    shard_totals_.assign(static_cast<std::size_t>(context_.division.mine().size()), {});
    plan_passes(window, context_.division, gradients_, statistics_.normalizes_over(), passes_);
    shares_ = shares;
    if (context_.world->is_alone()) return;
    for (StepPass& pass : passes_) {
      if (statistics_.are_per_shard()) continue;
      pass.sums.gather = [this](std::span<const double> mine, std::size_t width) {
        return shared_.gather(mine, width);
      };
    }
    if (shares == Shares::kNo || passes_.size() > 1) return;
    passes_.front().sums.finished = [this](const float* begin, int64_t count) {
      pieces_.add(begin - gradients_.first(), count);
    };
  }

  static void require_intact(const Window& window) {
    train::require_intact(window.data, {window.order.data_ptr<int64_t>() + window.begin,
                                        static_cast<std::size_t>(window.num_samples)});
  }

  // Computes the gradients of the subtrees of this process. All threads call it, and most of the
  // functions below.
  void compute_gradient(int64_t thread, const Window& window) {
    const int64_t* rows = window.order.data_ptr<int64_t>() + window.begin;
    const double scale = 1 / static_cast<double>(window.num_samples * num_members_);
    for (const StepPass& pass : passes_) {
      const cpu::NetworkBatch batch{.source = gather_source(window.data),
                                    .rows = rows + pass.first_row,
                                    .num_rows = pass.num_rows,
                                    .dropout_seed = window.dropout_seed,
                                    .dropout_factor = window.dropout_factor,
                                    .first_row = pass.first_row};
      if (statistics_.are_per_shard()) {
        team_.parallel_for(thread, 1, [&](int64_t) {
          shared_.guard([&] { statistics_.load(pass.first_shard); });
        });
      }
      train(thread, window.data, batch, pass, scale);
      network_.parameter_gradients(thread, pass.sums);
    }
    if (passes_.size() > 1) add_shards(thread);
  }

  void add_shards(int64_t thread) {
    const int64_t size = context_.model.parameters().num_trained;
    team_.parallel_for(thread, cpu::ceil_div(size, kChunk), [&](int64_t i) {
      const TimedWork timed(Work::kReduce);
      gradients_.add_shards(context_.division, i * kChunk, std::min(size, (i + 1) * kChunk));
    });
  }

  // Waits for the sum of all processes. Called by one thread.
  void finish_sums() {
    const TimedWork timed(Work::kReduce);
    if (!context_.world->is_alone()) pieces_.finish();
    shared_.guard([&] { statistics_.take_mean(); });
  }

  void set_totals(StepStats& stats) {
    const SharedSums::Step step = shared_.finish_totals();
    stats.loss_sum = static_cast<float>(step.totals.loss / static_cast<double>(num_members_));
    stats.num_correct = static_cast<int64_t>(step.totals.num_correct);
    stats.requests = step.requests;
  }

  // Runs forward and backward pass, and adds the losses of all members to the totals of the shards.
  void train(int64_t thread, const ResidentData& data, const cpu::NetworkBatch& batch,
             const StepPass& pass, double gradient_scale) {
    const cpu::RowSums& sums = pass.sums;
    const auto loss = [&](int64_t first_row, cpu::LossInput input) {
      input.wants_gradient = true;
      input.gradient_scale = static_cast<float>(gradient_scale);
      compute_losses(data, batch, first_row, input);
    };
    network_.train(thread, batch, sums, loss, [&] {
      shared_.guard([&] { statistics_.store(pass.first_shard); });
      for (std::size_t s = 0; s + 1 < sums.borders.size(); ++s) {
        ShardTotals& totals = shard_totals_[static_cast<std::size_t>(pass.first_shard) + s];
        const auto begin = static_cast<std::size_t>(sums.borders[s] * num_members_);
        const auto end = static_cast<std::size_t>(sums.borders[s + 1] * num_members_);
        for (std::size_t i = begin; i < end; ++i) {
          totals.loss += static_cast<double>(losses_[i]);
          totals.num_correct += correct_[i];
        }
      }
      if (shares_ == Shares::kNo || &pass != &passes_.back()) return;
      shared_.guard([&] { shared_.start_totals(shard_totals_, nullptr); });
    });
  }

  // Computes the losses and outputs of a batch, whose first row is `first_row` of the data.
  void infer(int64_t thread, const ResidentData& data, const cpu::NetworkBatch& batch,
             int64_t first_row, EvaluatedRows& rows) {
    const auto loss = [&](int64_t row, cpu::LossInput input) {
      input.wants_gradient = false;
      cpu::copy_outputs(input, rows.outputs_of(first_row + row));
      compute_losses(data, batch, row, input);
    };
    network_.infer(thread, batch, loss, [&] {
      for (int64_t i = 0; i < batch.num_rows; ++i) {
        rows.set(first_row + i, losses_[static_cast<std::size_t>(i)],
                 correct_[static_cast<std::size_t>(i)]);
      }
    });
  }

  // Computes the losses of the rows of the batch from `first_row` on.
  void compute_losses(const ResidentData& data, const cpu::NetworkBatch& batch, int64_t first_row,
                      cpu::LossInput input) {
    const TimedWork timed(Work::kLoss);
    input.label_smoothing = context_.loss.label_smoothing;
    input.huber_delta = context_.loss.huber_delta;
    const int64_t first = first_row * input.num_members;
    compute_losses(data, batch.rows + first_row, input,
                   values_.data() + first * input.tile.num_columns,
                   {.losses = losses_.data() + first, .correct = correct_.data() + first});
  }

  // `values` is scratch memory for the targets of a regression.
  void compute_losses(const ResidentData& data, const int64_t* rows, cpu::LossInput input,
                      float* values, const cpu::LossOutput& output) const {
    std::array<float, cpu::kMaxLossRows> weights{};
    if (data.weights.defined()) {
      gather(data.weights.data_ptr<float>(), rows, input, weights.data());
      input.weights = weights.data();
    }
    std::array<int64_t, cpu::kMaxLossRows> classes{};
    cpu::LossTargets targets;
    if (data.targets.scalar_type() == at::kFloat) {
      gather(data.targets.data_ptr<float>(), rows, input, values, data.targets.size(1));
      targets.values = values;
    } else {
      gather(data.targets.data_ptr<int64_t>(), rows, input, classes.data());
      targets.classes = classes.data();
    }
    cpu::compute_losses(kernels_, context_.loss.kind, input, targets, output);
  }

  // Copies `width` values for each row of outputs. All members of a sample get the same values.
  template <class Value>
  static void gather(const Value* values, const int64_t* rows, const cpu::LossInput& input,
                     Value* out, int64_t width = 1) {
    for (int64_t i = 0; i < input.tile.num_rows; i += input.num_members, ++rows) {
      for (int64_t m = 0; m < input.num_members; ++m) {
        out = std::copy_n(values + *rows * width, width, out);
      }
    }
  }

  void sum_statistics(int64_t thread, StepStats& stats) {
    const model::FlatParameters& flat = context_.model.parameters();
    const float* gradients = gradients_.first();
    const auto sum_chunk = [&](int64_t i) {
      const TimedWork timed(Work::kGradientNorm);
      const int64_t begin = i * kChunk;
      square_sums_[static_cast<std::size_t>(i)] =
          kernels_.sum_of_squares(gradients + begin, std::min(kChunk, flat.num_trained - begin));
    };
    team_.parallel_for(thread, cpu::ceil_div(flat.num_trained, kChunk), sum_chunk, [&] {
      const double squares = std::accumulate(square_sums_.begin(), square_sums_.end(), 0.0);
      // As in LibTorch, the norm is infinite if its square exceeds the range of float.
      stats.grad_norm = std::sqrt(static_cast<float>(squares));
      shared_.guard([&] { set_totals(stats); });
      stats.is_finite = !shared_.has_failed() && std::isfinite(stats.grad_norm + stats.loss_sum) &&
                        statistics_.are_finite();
    });
  }

  void update(int64_t thread, float grad_norm, const UpdateRates& rates) {
    const config::OptimizerConfig& o = context_.optimizer;
    cpu::UpdateOptions options{
        .optimizer = o, .learning_rate = rates.learning_rate, .ema_decay = context_.ema_decay};
    if (o.name != config::OptimizerName::kSgd) {
      const auto step = static_cast<double>(context_.optimizer_state.step + 1);
      options.mean_correction = 1 - std::pow(o.beta1, step);
      options.square_correction = 1 - std::pow(o.beta2, step);
    }
    if (context_.clip_norm > 0) {
      options.gradient_factor =
          std::min(1.0, context_.clip_norm / (static_cast<double>(grad_norm) + 1e-6));
    }
    options.optimizer.weight_decay *= rates.weight_decay_factor;
    const std::vector<model::ParameterGroup>& groups = context_.model.parameters().groups;
    const int64_t num_chunks = std::accumulate(
        groups.begin(), groups.end(), int64_t{0},
        [](int64_t sum, const auto& group) { return sum + cpu::ceil_div(group.size(), kChunk); });
    team_.parallel_for_nowait(thread, num_chunks, [&](int64_t i) {
      const TimedWork timed(Work::kUpdate);
      for (const model::ParameterGroup& group : groups) {
        const int64_t num_group_chunks = cpu::ceil_div(group.size(), kChunk);
        if (i < num_group_chunks) {
          return update_chunk(options_of(group, options), group.begin + i * kChunk, group.end);
        }
        i -= num_group_chunks;
      }
    });
  }

  static cpu::UpdateOptions options_of(const model::ParameterGroup& group,
                                       cpu::UpdateOptions options) {
    const bool decays =
        options.optimizer.decay_bias_and_norm || group.decay == network::Decay::kYes;
    options.optimizer.weight_decay *= decays ? group.factors.weight_decay : 0;
    options.optimizer.epsilon *= group.factors.epsilon;
    options.learning_rate *= group.factors.learning_rate;
    return options;
  }

  void update_chunk(const cpu::UpdateOptions& options, int64_t begin, int64_t end) {
    const model::FlatParameters& flat = context_.model.parameters();
    const auto moment = [&](std::initializer_list<std::string_view> names) -> float* {
      for (const model::NamedTensor& m : context_.optimizer_state.moments) {
        if (std::find(names.begin(), names.end(), m.name) != names.end()) {
          return m.tensor.data_ptr<float>() + begin;
        }
      }
      return nullptr;
    };
    kernels_.update(options, {.size = std::min(kChunk, end - begin),
                              .values = flat.values.data_ptr<float>() + begin,
                              .gradients = gradients_.first() + begin,
                              .first_moment = moment({"exp_avg", "momentum_buffer"}),
                              .second_moment = moment({"exp_avg_sq", "square_avg"}),
                              .average = moment({optim::kEma})});
  }

  StepContext context_;
  const cpu::Kernels& kernels_;
  cpu::ThreadTeam team_;
  GradientMemory gradients_;
  cpu::Network network_;
  int64_t num_members_;
  SharedSums shared_;
  RunningStatistics statistics_;
  GradientPieces pieces_;
  Shares shares_ = Shares::kYes;
  std::vector<StepPass> passes_;           // passes of the current step
  std::vector<ShardTotals> shard_totals_;  // one per shard of this process
  std::vector<float> losses_;
  std::vector<int32_t> correct_;
  std::vector<float> values_;      // targets of a regression
  std::vector<int64_t> all_rows_;  // the consecutive rows that this process evaluates
  std::vector<double> square_sums_;
};

}  // namespace

std::unique_ptr<TrainStep> make_fused_step(const StepContext& context, int64_t max_rows,
                                           int64_t num_threads) {
  return std::make_unique<FusedStep>(context, max_rows, num_threads);
}

}  // namespace trainer::train
