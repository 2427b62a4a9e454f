// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
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

/// A trained model as plain values: what prediction, evaluation and exports work on.
struct Model {
  std::filesystem::path file;                    // the checkpoint
  std::shared_ptr<const config::Config> config;  // of its run
  data::Schema schema;
  config::Loss loss = config::Loss::kCrossEntropy;  // never kAuto
  network::NetworkSpec network;
  /// In the order of network::tensors(), which gives names and shapes; float32 and finite. The
  /// averaged weights where the run had some (training.ema_decay).
  std::vector<checkpoint::NamedTensor> weights;
  bool is_averaged = false;

  std::string trainer_version;  // that wrote the checkpoint
  checkpoint::Position position;
  std::optional<checkpoint::Best> best;
  std::vector<data::Fingerprint> fingerprints;  // of the data files that it was trained on
};

/// Of a run folder: its best.pt, else its last.pt; or of a checkpoint file (see
/// checkpoint::find_checkpoint). Throws Error(kCheckpoint) where there is none, and with all
/// problems of one that is damaged or does not fit itself (see checkpoint::verify).
Model load_model(const std::filesystem::path& run_or_checkpoint);

/// The numbers of a float32 tensor.
const float* float_values(const archive::TensorData& tensor);

/// The weight of that name; there must be one.
const archive::TensorData& find_weight(const Model& model, const std::string& name);

}  // namespace trainer::apply
