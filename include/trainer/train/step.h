// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>

#include "trainer/dist/division.h"
#include "trainer/dist/world.h"
#include "trainer/model/loss.h"
#include "trainer/model/network.h"
#include "trainer/optim/optimizer.h"
#include "trainer/schedule/loss_scale.h"
#include "trainer/train/batches.h"
#include "trainer/train/evaluate.h"

namespace trainer::train {

/// The samples of one optimizer step. Each batch of `batch_size` of them is divided into shards,
/// and a process computes the rows of its shards at most `micro_batch_size` at a time. All
/// gradients are summed.
struct Window {
  const ResidentData& data;
  const at::Tensor& order;  // [n] int64 on the device: rows of the data
  int64_t begin = 0;        // the samples are order[begin, begin + num_samples)
  int64_t num_samples = 0;
  int64_t batch_size = 1;
  uint64_t dropout_seed = 0;     // of this step
  double dropout_factor = 1;     // of the probabilities
  int64_t micro_batch_size = 0;  // 0: batch_size

  /// The most rows that are computed together.
  int64_t max_rows() const {
    return micro_batch_size > 0 ? std::min(micro_batch_size, batch_size) : batch_size;
  }
  /// Rows of the samples [first, first + count) of the window.
  at::Tensor rows(int64_t first, int64_t count) const {
    return order.narrow(0, begin + first, count);
  }
};

/// What signals ask a run to do (core/signals.h), any of its processes.
struct Requests {
  int stop_signal = 0;  // 0: none
  bool save = false;
};

/// Results of a step.
struct StepStats {
  float loss_sum = 0;       // over the samples of the window
  int64_t num_correct = 0;  // of the rows of all members
  float grad_norm = 0;      // before clipping
  int64_t num_samples = 0;
  bool is_finite = true;        // loss, gradient and buffers; otherwise the step had no effect
  bool has_overflowed = false;  // not finite, and a smaller loss scale may help
  Requests requests = {};       // of all processes
};

/// What a step updates with.
struct UpdateRates {
  double learning_rate = 0;
  double weight_decay_factor = 1;
};

/// Whether batch norm takes mean and variance over the rows of a whole batch, or of each shard of
/// it alone.
enum class NormalizesOver { kBatch, kShard };

/// The objects of a step, which must outlive it.
struct StepContext {
  model::Network& model;
  optim::OptimizerState& optimizer_state;
  config::OptimizerConfig optimizer;
  double ema_decay = 0;  // of the moving average of the weights; 0: none
  model::LossOptions loss;
  double clip_norm = 1.0;                                // 0: never
  const schedule::LossScaleState* loss_scale = nullptr;  // of fp16; null: none
  std::shared_ptr<dist::World> world = std::make_shared<dist::World>();
  dist::Division division = {};
  NormalizesOver normalizes_over = NormalizesOver::kBatch;
  config::CudaGraphs cuda_graphs = config::CudaGraphs::kAuto;
};

/// Trains and evaluates a model.
class TrainStep {
 public:
  virtual ~TrainStep() = default;

  // All processes of the run call these functions together, with the same arguments.

  /// Runs one optimizer step with the gradient of the mean loss over the window, whatever its size.
  /// If loss, gradient or a running statistic is not finite, model and optimizer state do not
  /// change. Waits for the device to find that out.
  virtual StepStats run(const Window& window, const UpdateRates& rates) = 0;

  /// Whether start() and finish() may be used.
  virtual bool can_start() const { return false; }

  /// As run(), but does not wait for the device, and so updates whatever the results are.
  virtual void start(const Window& /*window*/, const UpdateRates& /*rates*/) {}

  /// The results of the steps that were started since the last call. Also not finite is the last
  /// one if the weights are not. Waits for the device, once.
  virtual std::vector<StepStats> finish() { return {}; }

  /// Does the work of run() except the update: takes about the same time and changes nothing.
  virtual void rehearse(const Window& window) = 0;

  /// Loss, accuracy and outputs over all of `data`, in inference mode, which does not
  /// change the model.
  virtual Evaluation evaluate(const ResidentData& data) = 0;

  /// Bytes that it keeps for activations and their gradients. Nothing if LibTorch allocates them.
  virtual std::optional<int64_t> activation_bytes() const { return std::nullopt; }
};

/// The reference: LibTorch's autograd, for any model on any device. In autograd_step.cpp.
std::unique_ptr<TrainStep> make_autograd_step(const StepContext& context);

/// Hand-written forward and backward pass over memory that is allocated once, for up to `max_rows`
/// together on the CPU. The results are bit-identical for any number of threads. In
/// fused_step.cpp.
std::unique_ptr<TrainStep> make_fused_step(const StepContext& context, int64_t max_rows,
                                           int64_t num_threads);

}  // namespace trainer::train
