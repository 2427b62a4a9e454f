// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "trainer/core/enum_names.h"
#include "trainer/metrics/score.h"

namespace trainer::run {

/// How good a model was on one split of the data.
struct EpochSummary {
  std::optional<double> loss = {};          // none: it was not finite
  std::optional<double> accuracy = {};      // 0 .. 1
  std::vector<metrics::Score> scores = {};  // all that are numbers, the loss first
};

/// How an epoch ended.
struct EpochRecord {
  int64_t epoch = 0;  // counted from 1
  int64_t step = 0;
  EpochSummary train;
  std::optional<EpochSummary> validation;
  double time_seconds = 0;  // of its steps

  /// That of the validation split, or without one of the training split.
  const EpochSummary& validation_or_train() const { return validation ? *validation : train; }
};

/// How a process left a run.
enum class End {
  kNone,  // it works on it still, or was killed
  kComplete,
  kStopped,  // by a signal, with its state saved
  kFailed
};

/// Once for the beginning of a run, and once for each time that it was gone on with.
struct Start {
  std::string time = {};  // as ISO 8601 has it
  std::string device = {};
  End end = End::kNone;
  std::string reason = {};  // the signal, or the message of the error
};

/// What a run folder tells of a run.
struct History {
  std::vector<EpochRecord> epochs;
  std::optional<EpochSummary> test;  // of the best epoch
  std::vector<Start> starts;
};

/// Reads the starts of the run folder `root` from system.json. Throws Error(kCheckpoint) if that is
/// damaged.
std::vector<Start> read_starts(const std::filesystem::path& root);

/// Reads metrics.jsonl of the run folder `root`, and so no starts. Lines that are no record, such
/// as one that a crash cut off, are passed over. Throws Error(kCheckpoint) for values of another
/// type.
History read_records(const std::filesystem::path& root);

/// Reads both files. Throws as read_starts() and read_records() do.
History read_history(const std::filesystem::path& root);

/// Notes in system.json of the run folder `root` how its last start has ended. Throws
/// Error(kFileSystem).
void write_end(const std::filesystem::path& root, End end, const std::string& reason);

/// Notes there that the run has other threads from `step` on. Throws Error(kFileSystem).
void write_threads(const std::filesystem::path& root, int64_t step, int64_t num_threads);

}  // namespace trainer::run

namespace trainer {

template <>
std::span<const std::string> enum_names<run::End>();

}  // namespace trainer
