// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trainer/base/archive/value.h"
#include "trainer/config/types.h"
#include "trainer/nn/spec/spec.h"
#include "trainer/run/checkpoint/checkpoint.h"
#include "trainer/table/dataset.h"

namespace trainer::config {
struct Config;
}

namespace trainer::apply {

/// The network that one run has trained, with its weights.
struct Member {
  std::filesystem::path file = {};                    // the checkpoint
  std::shared_ptr<const config::Config> config = {};  // the configuration of the run
  network::NetworkSpec network = {};
  /// All tensors of network::tensors() in that order, with those names and shapes; float32 and
  /// finite. These are the averaged weights if the run has some (training.ema_decay). The output
  /// layer is already divided by the temperature, so that the outputs are calibrated.
  std::vector<checkpoint::NamedTensor> weights = {};
  bool is_averaged = false;
  double temperature = 1;  // found by training.calibrate
  checkpoint::Position position = {};
  std::optional<checkpoint::Best> best = {};
  checkpoint::EpochMetrics epoch_metrics = {};
};

/// The intervals or sets of classes that a model predicts, see conformal.h.
struct Conformal {
  double coverage = 0;   // the probability that an interval or set contains the target
  int64_t num_rows = 0;  // that they were found on
  /// [targets] the distance of both ends from the prediction, in units of the data; for classes [1]
  /// the probability from which a class is in the set.
  std::vector<double> bounds = {};
};

/// A trained model as plain values, for prediction, evaluation and exports. It has one member, or
/// the members of an ensemble, whose predictions (probabilities of classes, or numbers) are
/// averaged by their weights. All members have the same features, targets and loss.
struct Model {
  std::filesystem::path file;  // the checkpoint, or ensemble.json
  data::Schema schema;
  config::Loss loss = config::Loss::kCrossEntropy;  // never kAuto
  std::vector<Member> members;                      // at least one
  /// [members] of sum 1, by which their predictions are averaged; empty: all are equal.
  std::vector<double> weights;
  std::string trainer_version;                  // the version that wrote the first checkpoint
  std::vector<data::Fingerprint> fingerprints;  // of the data files that it was trained on

  /// With two classes, the second is predicted if its probability is above this.
  double threshold = 0.5;
  /// Predictions come with intervals or sets of classes if this was set, see
  /// find_intervals().
  std::optional<Conformal> conformal = {};
  /// The precision of the products of linear layers in predictions: fp32 or bf16.
  config::Precision precision = config::Precision::kFp32;

  bool is_ensemble() const { return members.size() > 1; }
  int64_t num_outputs() const { return members.front().network.num_outputs; }
  /// The configuration of the first member, which says where the data are and how to read them.
  const config::Config& config() const { return *members.front().config; }
};

/// Loads a model from a run folder (its best.pt, else its last.pt), a checkpoint file (see
/// checkpoint::find_checkpoint) or the folder of an ensemble (see ensemble.h). Throws
/// Error(kCheckpoint) if there is none, if members differ, and with all problems of a checkpoint
/// that is damaged or inconsistent (see checkpoint::verify).
Model load_model(const std::filesystem::path& run_or_checkpoint);

/// The epoch of the checkpoint or the size of the ensemble in words: "epoch 12", "5 members".
std::string epoch_text(const Model& model);

/// [members] the fold, from 0, of the rows that a member was not trained on, or -1 if it has none
/// of its own. All are -1 unless the model is an ensemble whose members were trained on folds.
std::vector<int32_t> member_folds(const Model& model);

/// The elements of a float32 tensor, in row-major order.
const float* float_values(const archive::TensorData& tensor);

/// The tensor of this name; throws Error(kRuntime) if the member has none.
const archive::TensorData& find_weight(const Member& member, const std::string& name);

/// The elements of the tensor of this name, in row-major order. Throws as find_weight() does.
std::span<const float> weight_values(const Member& member, const std::string& name);

}  // namespace trainer::apply
