// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "trainer/base/archive/value.h"
#include "trainer/base/parallel/cpus.h"
#include "trainer/run/checkpoint/run_state.h"
#include "trainer/table/dataset.h"
#include "trainer/table/schema/schema_format.h"

namespace trainer::checkpoint {

using archive::NamedTensor;
using data::kFormatVersion;

/// A per-parameter state of the optimizer, such as "exp_avg". The tensors have the names of the
/// parameters.
struct Moment {
  std::string name;
  std::vector<NamedTensor> tensors;

  bool operator==(const Moment&) const = default;
};

/// The complete state of a run, from which it can be resumed exactly.
struct Checkpoint {
  int64_t format_version = kFormatVersion;  // version of the file that was read; ignored by write()
  std::string trainer_version;              // version of the program that wrote the file
  /// Parameters and buffers, with PyTorch's names and shapes.
  std::vector<NamedTensor> model;
  std::string optimizer;  // name of the optimizer, such as "adamw"
  int64_t optimizer_step = 0;
  std::vector<Moment> moments;
  RunState state;
  EpochMetrics epoch_metrics;
  uint64_t metrics_bytes = 0;  // length of metrics.jsonl at this state
  std::string config;          // the resolved configuration as YAML
  data::Schema schema;
  std::vector<data::Fingerprint> fingerprints;
  int64_t num_threads = 1;
  std::optional<Bf16Products> bf16_products = {};  // set for runs with the fused step in bf16

  bool operator==(const Checkpoint&) const = default;
};

/// Writes `checkpoint` to `path`, completely or not at all. Throws Error(kFileSystem).
void write(const std::filesystem::path& path, const Checkpoint& checkpoint);

/// Reads a checkpoint and verifies every byte. Its tensors point into the buffer of the file.
/// Throws Error(kCheckpoint) for a damaged file, another kind of file, a newer format, and for an
/// entry that is missing or of the wrong type.
Checkpoint read(const std::filesystem::path& path);

}  // namespace trainer::checkpoint
