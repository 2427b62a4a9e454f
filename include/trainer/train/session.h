// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "trainer/base/parallel/cpus.h"
#include "trainer/config/config.h"
#include "trainer/distributed/world.h"
#include "trainer/nn/schedule/learning_rate.h"
#include "trainer/run/checkpoint/run_state.h"
#include "trainer/table/dataset.h"
#include "trainer/torch/model/network.h"
#include "trainer/torch/optim/optimizer.h"
#include "trainer/train/batches.h"
#include "trainer/train/step.h"

namespace trainer::checkpoint {
struct Checkpoint;
}

namespace trainer::train {

/// A run in memory: data, model, optimizer, training step and state.
struct Session {
  /// Creates the model without its initial weights, and then takes the data; make_session() sets
  /// all other members.
  Session(const config::Config& run_config, data::Datasets& datasets, c10::Device run_device,
          std::shared_ptr<dist::World> run_world);

  config::Config config;
  c10::Device device;
  std::shared_ptr<dist::World> world;  // never null
  dist::Division division;

  model::Network model;
  data::Datasets data;
  model::LossOptions loss;
  optim::OptimizerState optimizer_state;
  schedule::ScheduleOptions schedule;
  std::unique_ptr<TrainStep> step;  // set by use_threads()

  ResidentData train;
  std::optional<ResidentData> validation;
  std::optional<ResidentData> test;

  checkpoint::RunState state;
  checkpoint::EpochMetrics epoch_metrics;
  float grad_norm = 0;  // norm of the gradient in the last step, before clipping
  Requests requests;    // what signals asked any process to do, as of the last step
  EpochOrder order;
};

/// Creates the session of one of the processes of `world`, or of a single process if it is null,
/// without its step. If memory runs out on `device` and training.on_out_of_memory is fallback_cpu,
/// the session is created on the CPU. Throws Error(kUsage) for settings that do not fit the data,
/// Error(kOutOfMemory) if there is no fallback.
std::unique_ptr<Session> make_session(const config::Config& config, data::Datasets datasets,
                                      c10::Device device,
                                      std::shared_ptr<dist::World> world = nullptr);

/// Whether the session uses the fused step (fp32 and bf16 on the CPU) instead of LibTorch's
/// autograd.
bool uses_kernels(const Session& session);

/// The rounding of bf16 products on this machine, if the session uses the fused step in bf16; else
/// nothing.
std::optional<Bf16Products> bf16_products(const Session& session);

/// Creates a step for the model and optimizer of the session and for micro-batches of up to
/// `batch_size` rows. The session must outlive it.
std::unique_ptr<TrainStep> make_step(Session& session, int64_t batch_size, int64_t num_threads);

/// Replaces the step of the session by one with this number of threads.
void use_threads(Session& session, int64_t num_threads);

/// The number of rows of a batch: training.batch_size, or the size of a smaller training split.
int64_t batch_size(const Session& session);

/// The number of rows that are computed together: all rows of a batch that a process can have, or
/// fewer after memory has run out.
int64_t micro_batch_size(const Session& session);

/// Whether all epochs are done or early stopping has ended the run.
bool finished(const Session& session);

/// Whether early stopping has ended the run.
bool stopped_early(const Session& session);

/// Returns the samples of the next step. The window is valid until the next call.
Window next_window(Session& session);

/// The learning rate of step `step`, counted from 0, with the plateau reductions and rollbacks so
/// far.
double learning_rate_at(const Session& session, int64_t step);

/// The learning rate of the next step, as learning_rate_at().
double next_learning_rate(const Session& session);

/// The learning rate and the factor of the weight decay for the next step.
UpdateRates next_rates(const Session& session);

/// Whether all samples of the current epoch have been used.
bool epoch_is_complete(const Session& session);

/// Updates the position, totals and loss scale after a step. A step that was not finite counts as
/// skipped.
void advance(Session& session, const StepStats& stats);

/// Adds the totals of the logging interval to those of the epoch, starts the next interval, and
/// returns the totals of the finished one.
checkpoint::Totals finish_interval(Session& session);

/// Moves the position to the start of the next epoch, and clears the totals of the finished one.
void finish_epoch(Session& session);

/// Forgets the best epoch, so that the next evaluated epoch becomes the best.
void reset_best(Session& session);

/// Returns the state of the session as a checkpoint that owns its tensors, in CPU memory. Members
/// that the session does not know (configuration text, number of threads, metrics_bytes) keep their
/// defaults.
checkpoint::Checkpoint snapshot(const Session& session);

/// The approximate size of a checkpoint file, in bytes.
uint64_t checkpoint_bytes(const Session& session);

/// Restores the state of the checkpoint `from`. Throws Error(kCheckpoint) naming each tensor
/// that is missing, unknown or of another shape.
void restore(Session& session, const checkpoint::Checkpoint& from);

/// Sends the state of the first process (weights, moments, RunState) to all other processes. Throws
/// Error(kLostProcess) if one of them is lost.
void share_state(Session& session);

/// Restores only the weights, for evaluation: the averaged weights if the checkpoint has them.
/// Throws like restore().
void restore_model(model::Network& model, const checkpoint::Checkpoint& from);

/// Loads initial weights from `file`, a checkpoint or a state dict of Python; tensors whose names
/// match a pattern of `skip` keep their values. Throws Error(kCheckpoint) like restore(), and if
/// the file cannot be read.
void load_initial_weights(Session& session, const std::filesystem::path& file,
                          const std::vector<std::string>& skip);

}  // namespace trainer::train
