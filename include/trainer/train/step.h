// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>

#include "trainer/distributed/world.h"
#include "trainer/nn/schedule/loss_scale.h"
#include "trainer/torch/model/loss.h"
#include "trainer/torch/model/network.h"
#include "trainer/torch/optim/optimizer.h"
#include "trainer/train/batches.h"
#include "trainer/train/evaluate.h"

namespace trainer::train {

/// The samples of one optimizer step. Each batch of `batch_size` of them is divided into shards,
/// and a process computes the rows of its shards in pieces of at most `micro_batch_size` rows. The
/// gradients of all batches, shards and pieces are summed.
struct Window {
  const ResidentData& data;
  const at::Tensor& order;  // [n] int64 on the device: rows of the data
  int64_t begin = 0;        // the samples are order[begin, begin + num_samples)
  int64_t num_samples = 0;
  int64_t batch_size = 1;
  uint64_t dropout_seed = 0;     // seed of the dropout noise of this step
  double dropout_factor = 1;     // multiplies the dropout probabilities
  int64_t micro_batch_size = 0;  // the most rows per pass; 0: batch_size

  /// The most rows that are computed together.
  int64_t max_rows() const {
    return micro_batch_size > 0 ? std::min(micro_batch_size, batch_size) : batch_size;
  }
  /// The rows of the samples [first, first + count) of the window, `[count]` int64.
  at::Tensor rows(int64_t first, int64_t count) const {
    return order.narrow(0, begin + first, count);
  }
};

/// What signals have asked the processes of a run to do (base/signals.h).
struct Requests {
  int stop_signal = 0;  // the signal that asks to stop; 0: none
  bool save = false;
};

/// The loss and gradient norm of a step, and whether it had an effect.
struct StepStats {
  float loss_sum = 0;       // sum over the samples of the window
  int64_t num_correct = 0;  // correct predictions, counted for all members
  float grad_norm = 0;      // norm of the gradient before clipping
  int64_t num_samples = 0;
  /// Whether loss, gradient and buffers are finite; otherwise the step had no effect.
  bool is_finite = true;
  bool has_overflowed = false;  // the gradient is not finite, and a smaller loss scale may help
  Requests requests = {};       // requests to any process
};

/// The factors of an update that change from step to step.
struct UpdateRates {
  double learning_rate = 0;
  double weight_decay_factor = 1;
};

/// Whether batch norm computes mean and variance over the rows of a whole batch, or separately over
/// the rows of each of its shards.
enum class NormalizesOver { kBatch, kShard };

/// The objects and settings of a step. The objects must outlive it.
struct StepContext {
  model::Network& model;
  optim::OptimizerState& optimizer_state;
  config::OptimizerConfig optimizer;
  double ema_decay = 0;  // decay of the moving average of the weights; 0: no average
  model::LossOptions loss;
  /// The largest norm of the gradient; 0: no clipping.
  double clip_norm = 1.0;
  const schedule::LossScaleState* loss_scale = nullptr;  // for fp16; null: no loss scaling
  std::shared_ptr<dist::World> world = std::make_shared<dist::World>();
  dist::Division division = {};
  NormalizesOver normalizes_over = NormalizesOver::kBatch;
  config::CudaGraphs cuda_graphs = config::CudaGraphs::kAuto;
};

/// One way to compute training steps and evaluations of a model.
class TrainStep {
 public:
  virtual ~TrainStep() = default;

  // All processes of a run call these functions together, with the same arguments.

  /// Runs one optimizer step with the gradient of the mean loss over the window. If loss, gradient
  /// or a running statistic is not finite, model and optimizer state do not change. Waits for the
  /// device to find that out.
  virtual StepStats run(const Window& window, const UpdateRates& rates) = 0;

  /// Whether start() and finish() are supported.
  virtual bool can_start() const { return false; }

  /// Starts a step without waiting for the device. So the update is made even if the results are
  /// not finite.
  virtual void start(const Window& /*window*/, const UpdateRates& /*rates*/) {}

  /// Returns the results of the steps that were started since the last call. The last one also
  /// counts as not finite if the weights are not finite after it. Waits for the device once.
  virtual std::vector<StepStats> finish() { return {}; }

  /// Does the work of run() except the update: takes about the same time and changes nothing.
  virtual void rehearse(const Window& window) = 0;

  /// Computes loss, accuracy and outputs for all of `data` in inference mode, which does not change
  /// the model.
  virtual Evaluation evaluate(const ResidentData& data) = 0;

  /// The bytes that the step allocates for activations and their gradients. Nothing if LibTorch
  /// allocates them.
  virtual std::optional<int64_t> activation_bytes() const { return std::nullopt; }
};

/// Creates the reference step with LibTorch's autograd, for any model on any device. Implemented in
/// autograd_step.cpp.
std::unique_ptr<TrainStep> make_autograd_step(const StepContext& context);

/// Creates a step with hand-written forward and backward passes on the CPU, in memory that is
/// allocated once for passes of up to `max_rows` rows. The results are bit-identical for any number
/// of threads. Implemented in fused_step.cpp.
std::unique_ptr<TrainStep> make_fused_step(const StepContext& context, int64_t max_rows,
                                           int64_t num_threads);

}  // namespace trainer::train
