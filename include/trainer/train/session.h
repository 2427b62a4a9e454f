// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "trainer/checkpoint/run_state.h"
#include "trainer/config/config.h"
#include "trainer/core/cpus.h"
#include "trainer/data/dataset.h"
#include "trainer/dist/division.h"
#include "trainer/dist/world.h"
#include "trainer/model/network.h"
#include "trainer/optim/optimizer.h"
#include "trainer/schedule/learning_rate.h"
#include "trainer/train/batches.h"
#include "trainer/train/epoch_order.h"
#include "trainer/train/step.h"

namespace trainer::checkpoint {
struct Checkpoint;
}

namespace trainer::train {

/// A run: data, model, optimizer, step, and state.
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
  float grad_norm = 0;  // of the last step
  Requests requests;    // of other processes, in the last step
  EpochOrder order;
};

/// Creates a session as configured, without its step, of one of the processes of `world`; without
/// one, of a process alone. If memory runs out on `device`, the session is on the CPU where
/// training.on_out_of_memory says so. Throws Error(kUsage) for settings that do not fit the data.
std::unique_ptr<Session> make_session(const config::Config& config, data::Datasets datasets,
                                      c10::Device device,
                                      std::shared_ptr<dist::World> world = nullptr);

/// Whether the session uses the fused step (fp32 and bf16 on the CPU), and not LibTorch's autograd.
bool uses_kernels(const Session& session);

/// How the products of the fused step in bf16 add up on this machine; nothing for other steps.
std::optional<Bf16Products> bf16_products(const Session& session);

/// A step for the model and optimizer of the session, for micro-batches of up to `batch_size` rows.
/// The session must outlive it.
std::unique_ptr<TrainStep> make_step(Session& session, int64_t batch_size, int64_t num_threads);

/// Creates the session's step, with that many threads.
void use_threads(Session& session, int64_t num_threads);

/// Rows of a batch.
int64_t batch_size(const Session& session);

/// Rows that are computed together: all rows of a batch that a process has, unless memory ran out.
int64_t micro_batch_size(const Session& session);

/// True when all epochs are done or training stopped early.
bool finished(const Session& session);

/// Whether early stopping has ended the run.
bool stopped_early(const Session& session);

/// The samples of the next step, until the next call.
Window next_window(Session& session);

/// The learning rate of step `step`, counted from 0, with the reductions so far.
double learning_rate_at(const Session& session, int64_t step);

/// The learning rate of the next step.
double next_learning_rate(const Session& session);

/// What the next step updates with.
UpdateRates next_rates(const Session& session);

/// Whether all samples of the epoch have been used.
bool epoch_is_complete(const Session& session);

/// Updates the state after a step, which may have been skipped because it was not finite.
void advance(Session& session, const StepStats& stats);

/// Adds the totals of the logging interval to those of the epoch, starts the next interval, and
/// returns the totals of the finished one.
checkpoint::Totals finish_interval(Session& session);

/// Starts the next epoch.
void finish_epoch(Session& session);

/// Forgets the best epoch, so that the next one becomes the best.
void reset_best(Session& session);

/// The session's state as a checkpoint that owns its tensors, in CPU memory. Members
/// that the session does not know (configuration text, metrics) are empty. Implemented in
/// snapshot.cpp, like the functions below.
checkpoint::Checkpoint snapshot(const Session& session);

/// The approximate size of a checkpoint file.
uint64_t checkpoint_bytes(const Session& session);

/// Restores the state of the checkpoint `from`. Throws Error(kCheckpoint) naming each tensor
/// that is missing, unknown or of another shape.
void restore(Session& session, const checkpoint::Checkpoint& from);

/// Gives all other processes the state of the first one: weights, moments, RunState. Throws
/// Error(kLostProcess).
void share_state(Session& session);

/// Restores only the weights for evaluation: the averaged ones if there are any. Throws like
/// restore().
void restore_model(model::Network& model, const checkpoint::Checkpoint& from);

/// Loads initial weights from `file`, a checkpoint or a state dict of Python; tensors whose names
/// match a pattern of `skip` keep their values. Throws Error(kCheckpoint) like restore(), and if
/// the file cannot be read.
void load_initial_weights(Session& session, const std::filesystem::path& file,
                          const std::vector<std::string>& skip);

}  // namespace trainer::train
