// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "trainer/archive/value.h"
#include "trainer/data/dataset.h"
#include "trainer/plan/plateau.h"

namespace trainer::checkpoint {

/// The format that this program writes; it reads this one and older ones. Version 2 added
/// `progress.skipped_steps` and `progress.rollbacks`, version 3 `progress.overflowed_steps`,
/// `out_of_memory`, `rows_at_once` and `scaler`, and `schema.columns` and `unknown_category`:
/// before it, all columns are numbers without a fill. Version 4 has several `schema.target_names`
/// and their scaling, and `embedding_size` and `quantiles` of columns, and `progress.plateau`;
/// `schema.target_means` and `schema.missing` were added to it later, and files may lack them.
/// Version 5 has `schema.offset`, `schema.target_offset`, and `offset` and `limits` of columns; it
/// is written where there are some, else version 4, so that older programs read what they can
/// apply.
inline constexpr int64_t kFormatVersion = 5;

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

/// Where a run stands. The order of the samples follows from seed and epoch, the learning rate
/// from the step: nothing else of them is state.
struct Position {
  int64_t epoch = 0;             // epochs completed
  int64_t step = 0;              // optimizer steps done
  int64_t samples_in_epoch = 0;  // of the epoch under way, used so far

  bool operator==(const Position&) const = default;
};

/// Sums over samples, so that the records of metrics.jsonl are the same after a resume.
struct Totals {
  double loss_sum = 0;
  int64_t num_correct = 0;
  int64_t num_samples = 0;

  bool operator==(const Totals&) const = default;
};

/// The best epoch so far by training.best_metric.
struct Best {
  int64_t epoch = 0;
  double value = 0;

  bool operator==(const Best&) const = default;
};

/// What a run overcame so far.
struct Recoveries {
  int64_t skipped_steps = 0;     // by training.on_nonfinite
  int64_t rollbacks = 0;         // likewise; each halved the learning rate
  int64_t overflowed_steps = 0;  // made again because a scaled fp16 gradient overflowed
  int64_t out_of_memory = 0;     // times that memory ran out and the run went on
  int64_t rows_at_once = 0;      // of a batch, since then; 0: all of them

  bool operator==(const Recoveries&) const = default;
};

/// The factor of the loss that keeps small gradients above the least fp16 number.
struct Scaler {
  double scale = 0;
  int64_t good_steps = 0;

  bool operator==(const Scaler&) const = default;
};

/// Everything that a run needs to go on exactly where it stood.
struct Checkpoint {
  int64_t format_version = kFormatVersion;  // of the file that was read; write() has its own
  std::string trainer_version;              // likewise
  std::vector<NamedTensor> model;           // parameters and buffers, PyTorch's names and shapes
  std::string optimizer;                    // "adamw"
  int64_t optimizer_step = 0;
  std::vector<Moment> moments;
  Position position;
  Totals epoch_totals;     // of the epoch under way, up to the last training record
  Totals interval_totals;  // since the last training record
  std::optional<Best> best;
  int64_t epochs_without_improvement = 0;
  Recoveries recoveries;
  std::optional<Scaler> scaler;
  std::optional<plan::PlateauState> plateau;
  uint64_t metrics_bytes = 0;  // length of metrics.jsonl
  std::string config;          // the resolved configuration as YAML
  data::Schema schema;
  std::vector<data::Fingerprint> fingerprints;
  int64_t num_threads = 1;

  bool operator==(const Checkpoint&) const = default;
};

/// Writes `checkpoint` under `path`, complete or not at all. Throws Error(kFileSystem).
void write(const std::filesystem::path& path, const Checkpoint& checkpoint);

/// Reads a checkpoint, every byte verified; tensors stay in the buffer of the file.
/// Throws Error(kCheckpoint) for a damaged file, another kind of file, a newer format, and for an
/// entry that is missing or of the wrong type.
Checkpoint read(const std::filesystem::path& path);

}  // namespace trainer::checkpoint
