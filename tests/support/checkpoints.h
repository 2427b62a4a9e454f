// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "trainer/base/version.h"
#include "trainer/run/checkpoint/checkpoint.h"

namespace trainer::test {

inline archive::TensorData float_data(std::vector<int64_t> shape,
                                      const std::vector<float>& values) {
  auto owner = std::make_shared<std::vector<float>>(values);
  const auto* data = reinterpret_cast<const std::byte*>(owner->data());
  return {archive::DType::kFloat32, std::move(shape), data, owner};
}

/// A checkpoint in which every entry has a value of its own.
inline checkpoint::Checkpoint full_checkpoint() {
  checkpoint::Checkpoint c;
  c.trainer_version = build_info().version;
  c.model = {{"layers.0.weight", float_data({2, 3}, {1, 2, 3, 4, 5, 6})},
             {"layers.0.bias", float_data({2}, {-1, 0.5F})}};
  c.optimizer = "adamw";
  c.optimizer_step = 11;
  c.moments = {{"exp_avg", {{"layers.0.bias", float_data({2}, {7, 8})}}},
               {"exp_avg_sq", {{"layers.0.bias", float_data({2}, {9, 10})}}}};
  c.state.position = {.epoch = 3, .step = 12, .samples_in_epoch = 64};
  c.state.epoch_totals = {.loss_sum = 1.25, .num_correct = 13, .num_samples = 14};
  c.state.interval_totals = {.loss_sum = 0.1, .num_correct = 15, .num_samples = 16};
  c.state.best = checkpoint::Best{.epoch = 2, .value = 0.0625};
  c.state.epochs_without_improvement = 1;
  c.state.recoveries = {.skipped_steps = 5,
                        .rollbacks = 6,
                        .overflowed_steps = 7,
                        .out_of_memory = 8,
                        .micro_batch_size = 9,
                        .has_fallen_back = true};
  c.state.scaler = schedule::LossScaleState{.scale = 1024, .good_steps = 10};
  c.state.plateau = schedule::PlateauState{
      .best = 0.03125, .bad_epochs = 17, .cooldown_left = 18, .num_reductions = 19};
  c.epoch_metrics = {.epoch = 3,
                     .train = {{"loss", 0.375}, {"accuracy", 0.75}},
                     .validation = {{"loss", 0.4375}, {"f1", 0.6875}}};
  c.metrics_bytes = 12345;
  c.config = "seed: 7\ntag: \"na\xC3\xAFve\"\n";
  c.schema.task = config::Task::kClassification;
  c.schema.feature_names = {"a", "b", "c"};
  c.schema.target_names = {"kind"};
  c.schema.labels = {"no", "yes"};
  c.schema.scaling = {{0.5F, 1, 2}, {3, 4, 5.5F}};
  c.schema.columns = {{.name = "a", .is_declared = true, .fill = 0.1F},
                      {.name = "row", .kind = data::ColumnKind::kId, .is_declared = true},
                      {.name = "b"},
                      {.name = "notes", .kind = data::ColumnKind::kIgnored, .reason = "long"},
                      {.name = "c",
                       .fill = 7,
                       .quantiles = {-1, 0.5F, 2},
                       .quantile_score = data::QuantileScore::kNormal}};
  c.schema.target_means = {0.25, 0.75};
  c.schema.unknown_category = config::UnknownCategory::kError;
  c.fingerprints = {{"/data/train.csv", 987654321, 0xFEDCBA98}, {"/data/test.csv", 0, 0}};
  c.num_threads = 4;
  return c;
}

/// A checkpoint that a run could go on from: its model fits its configuration and its data.
inline checkpoint::Checkpoint sound_checkpoint() {
  checkpoint::Checkpoint c = full_checkpoint();
  const std::vector<checkpoint::NamedTensor> parameters = {
      {"layers.0.weight", float_data({4, 3}, std::vector<float>(12, 0.5F))},
      {"layers.0.bias", float_data({4}, {1, 2, 3, 4})},
      {"norms.0.weight", float_data({4}, {1, 1, 1, 1})},
      {"norms.0.bias", float_data({4}, {0, 0, 0, 0})},
      {"layers.1.weight", float_data({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8})},
      {"layers.1.bias", float_data({2}, {-1, 0.5F})}};
  c.model = parameters;
  c.model.push_back({"norms.0.running_mean", float_data({4}, {1, 2, 3, 4})});
  c.model.push_back({"norms.0.running_var", float_data({4}, {1, 2, 3, 4})});
  c.moments = {{"exp_avg", parameters}, {"exp_avg_sq", parameters}};
  c.config = "model: {hidden_sizes: [4], norm: batch}\n";
  return c;
}

}  // namespace trainer::test
