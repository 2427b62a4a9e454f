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
#include "trainer/data/dataset.h"
#include "trainer/model/network.h"
#include "trainer/optim/optimizer.h"
#include "trainer/schedule/learning_rate.h"
#include "trainer/train/batches.h"
#include "trainer/train/step.h"

namespace trainer::checkpoint {
struct Checkpoint;
}

namespace trainer::train {

/// A run, assembled: what it works on and with, and its state.
struct Session {
  /// The model with its initial weights; make_session() does the rest.
  Session(const config::Config& run_config, data::Datasets datasets, c10::Device run_device);

  config::Config config;
  data::Datasets data;
  c10::Device device;

  model::Network model;
  model::LossOptions loss;
  optim::OptimizerState optimizer_state;
  schedule::ScheduleOptions schedule;
  std::unique_ptr<TrainStep> step;  // use_threads() makes it

  ResidentData train;
  std::optional<ResidentData> validation;
  std::optional<ResidentData> test;

  checkpoint::RunState state;
  float grad_norm = 0;  // of the last step
  at::Tensor order;     // [num_train] int64 on the device, of epoch `order_epoch`
  int64_t order_epoch = -1;
};

/// Builds everything that `config` asks for but the step. Throws Error(kUsage) for combinations
/// that only the data show to be impossible.
std::unique_ptr<Session> make_session(const config::Config& config, data::Datasets datasets,
                                      c10::Device device);

/// Whether the step is the fused one, with kernels of our own: fp32 on the CPU. Otherwise it is
/// LibTorch's autograd.
bool uses_kernels(const Session& session);

/// A step on the model and the optimizer of the session, which outlives it, for micro-batches of up
/// to `batch_size` rows.
std::unique_ptr<TrainStep> make_step(Session& session, int64_t batch_size, int64_t num_threads);

/// Makes the session's step, which computes with that many threads.
void use_threads(Session& session, int64_t num_threads);

/// Rows of a batch that are computed together: all, unless memory ran out.
int64_t micro_batch_size(const Session& session);

/// True when all epochs are done or training stopped early.
bool finished(const Session& session);
bool stopped_early(const Session& session);

/// The samples of the next step.
Window next_window(Session& session);

/// The learning rate of the step that follows `step` others, as far as the epochs so far tell.
double learning_rate_at(const Session& session, int64_t step);

/// The learning rate of the next step.
double next_learning_rate(const Session& session);

/// Counts a step that was made, or skipped because it was not finite.
void advance(Session& session, const StepStats& stats);

/// Adds the totals of the interval to those of the epoch, begins the next interval, and returns the
/// totals of the one that ended.
checkpoint::Totals finish_interval(Session& session);

/// Counts the epoch and begins the next one.
void finish_epoch(Session& session);

/// Starts the search for the best epoch anew.
void reset_best(Session& session);

/// The session's state as a checkpoint that owns its tensors, in CPU memory. What the session does
/// not know (configuration text, metrics) is left empty. In snapshot.cpp, as all that follows.
checkpoint::Checkpoint snapshot(const Session& session);

/// The size of a checkpoint file, nearly.
uint64_t checkpoint_bytes(const Session& session);

/// Continues where the checkpoint `from` was taken. Throws Error(kCheckpoint) naming each tensor
/// that is missing, unknown or of another shape.
void restore(Session& session, const checkpoint::Checkpoint& from);

/// Takes the weights alone, those that are evaluated: the averaged ones where there are any.
/// Throws as restore does.
void restore_model(model::Network& model, const checkpoint::Checkpoint& from);

/// Takes initial weights from `file`, a checkpoint or a state dict of Python; tensors whose names
/// match a pattern of `skip` keep their values. Throws Error(kCheckpoint) as restore does, and when
/// the file cannot be read.
void load_initial_weights(Session& session, const std::filesystem::path& file,
                          const std::vector<std::string>& skip);

}  // namespace trainer::train
