// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "trainer/checkpoint/checkpoint.h"
#include "trainer/config/config.h"

namespace trainer::checkpoint {

/// A checkpoint that passed every check.
struct Verified {
  Checkpoint checkpoint;
  config::Config config;  // what its text says
  uint64_t num_bytes = 0;
  double time_seconds = 0;  // of reading and checking
};

/// Reads a checkpoint with every check of read(), and then looks whether a run could go on from it:
/// all weights and moments are finite, the layers lead from the features to the outputs, each
/// moment has the names and shapes of the parameters, the configuration loads and has the hidden
/// layers of the model.
/// Throws Error(kCheckpoint) with every problem, a line each: `file: entry: problem`.
Verified verify(const std::filesystem::path& path);

/// What a model consists of, as its tensors tell.
struct ModelSize {
  std::vector<int64_t> widths;  // features, hidden layers, outputs
  int64_t num_parameters = 0;   // elements; running means and variances are no parameters
};

ModelSize model_size(const Checkpoint& checkpoint);

/// "unchanged", "missing", "changed: ... before, ... now", or why the file cannot be read.
std::string data_file_state(const data::Fingerprint& saved);

}  // namespace trainer::checkpoint
