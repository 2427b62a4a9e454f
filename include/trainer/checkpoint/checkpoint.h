// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "trainer/archive/value.h"
#include "trainer/checkpoint/run_state.h"
#include "trainer/core/cpus.h"
#include "trainer/data/dataset.h"

namespace trainer::checkpoint {

/// The newest format that this program writes; it reads this one and all older ones. A file has the
/// lowest version whose programs can apply it. docs/file-formats.md says what each version added.
inline constexpr int64_t kFormatVersion = 6;

/// A tensor of the state dict.
struct NamedTensor {
  std::string name;
  archive::TensorData tensor;

  bool operator==(const NamedTensor&) const = default;
};

/// What an optimizer remembers of each parameter, such as "exp_avg"; names as in the model.
struct Moment {
  std::string name;
  std::vector<NamedTensor> tensors;

  bool operator==(const Moment&) const = default;
};

/// Everything that a run needs to resume exactly.
struct Checkpoint {
  int64_t format_version = kFormatVersion;  // of the file that was read; write() has its own
  std::string trainer_version;              // that wrote the file
  std::vector<NamedTensor> model;           // parameters and buffers, PyTorch's names and shapes
  std::string optimizer;                    // "adamw"
  int64_t optimizer_step = 0;
  std::vector<Moment> moments;
  RunState state;
  EpochMetrics epoch_metrics;
  uint64_t metrics_bytes = 0;  // length of metrics.jsonl
  std::string config;          // the resolved configuration as YAML
  data::Schema schema;
  std::vector<data::Fingerprint> fingerprints;
  int64_t num_threads = 1;
  std::optional<Bf16Products> bf16_products = {};  // of the fused step in bf16

  bool operator==(const Checkpoint&) const = default;
};

/// Writes `checkpoint` under `path`, complete or not at all. Throws Error(kFileSystem).
void write(const std::filesystem::path& path, const Checkpoint& checkpoint);

/// Reads a checkpoint, every byte verified; tensors stay in the buffer of the file.
/// Throws Error(kCheckpoint) for a damaged file, another kind of file, a newer format, and for an
/// entry that is missing or of the wrong type.
Checkpoint read(const std::filesystem::path& path);

}  // namespace trainer::checkpoint
