// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trainer/archive/value.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/config/types.h"
#include "trainer/data/dataset.h"
#include "trainer/network/spec.h"

namespace trainer::config {
struct Config;
}

namespace trainer::apply {

/// What one run has trained.
struct Member {
  std::filesystem::path file = {};                    // the checkpoint
  std::shared_ptr<const config::Config> config = {};  // of the run
  network::NetworkSpec network = {};
  /// In the order of network::tensors(), which gives names and shapes; float32 and finite. The
  /// averaged weights where the run had some (training.ema_decay). Those of the output layer are
  /// divided by the temperature, so that the outputs are calibrated.
  std::vector<checkpoint::NamedTensor> weights = {};
  bool is_averaged = false;
  double temperature = 1;  // of training.calibrate
  checkpoint::Position position = {};
  std::optional<checkpoint::Best> best = {};
  checkpoint::EpochMetrics epoch_metrics = {};
};

/// A trained model as plain values: what prediction, evaluation and exports work on. One member, or
/// those of an ensemble, whose predictions are averaged: probabilities of classes, or numbers. All
/// members have the same features, targets and loss.
struct Model {
  std::filesystem::path file;  // the checkpoint, or ensemble.json
  data::Schema schema;
  config::Loss loss = config::Loss::kCrossEntropy;  // never kAuto
  std::vector<Member> members;                      // at least one
  std::string trainer_version;                      // that wrote the first checkpoint
  std::vector<data::Fingerprint> fingerprints;      // of the data files that it was trained on

  /// Of two classes: the probability of the second above which it is predicted.
  double threshold = 0.5;
  /// Of the products of linear layers when it predicts: fp32 or bf16.
  config::Precision precision = config::Precision::kFp32;

  bool is_ensemble() const { return members.size() > 1; }
  int64_t num_outputs() const { return members.front().network.num_outputs; }
  /// Of the first run: where the data are and how they are read.
  const config::Config& config() const { return *members.front().config; }
};

/// Of a run folder: its best.pt, else its last.pt; of a checkpoint file (see
/// checkpoint::find_checkpoint); or of the folder of an ensemble (see ensemble.h). Throws
/// Error(kCheckpoint) where there is none, for members that differ, and with all problems of a
/// checkpoint that is damaged or does not fit itself (see checkpoint::verify).
Model load_model(const std::filesystem::path& run_or_checkpoint);

/// "epoch 12", or "5 members".
std::string epoch_text(const Model& model);

/// The numbers of a float32 tensor.
const float* float_values(const archive::TensorData& tensor);

/// The weight of that name; there must be one.
const archive::TensorData& find_weight(const Member& member, const std::string& name);

/// The numbers of the float32 weight of that name; there must be one.
std::span<const float> weight_values(const Member& member, const std::string& name);

}  // namespace trainer::apply
