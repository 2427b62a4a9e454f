// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "trainer/base/text/enum_names.h"
#include "trainer/metrics/score.h"

namespace trainer::run {

/// The metrics of a model on one split of the data.
struct EpochSummary {
  std::optional<double> loss = {};          // nothing if the loss was not finite
  std::optional<double> accuracy = {};      // 0 to 1
  std::vector<metrics::Score> scores = {};  // all finite scores, the loss first
};

/// The position and the metrics of a run at the end of an epoch.
struct EpochRecord {
  int64_t epoch = 0;  // counted from 1
  int64_t step = 0;
  EpochSummary train;
  std::optional<EpochSummary> validation;
  double time_seconds = 0;  // duration of the steps

  /// The metrics of the validation split or, without one, of the training split.
  const EpochSummary& validation_or_train() const { return validation ? *validation : train; }
};

/// How a process has ended its work on a run.
enum class End {
  kNone,  // it still works on the run, or was killed
  kComplete,
  kStopped,  // by a signal, with its state saved
  kFailed
};

/// The start of a process that began or resumed a run.
struct Start {
  std::string time = {};  // in the format of ISO 8601
  std::string device = {};
  End end = End::kNone;
  std::string reason = {};  // the signal or the message of the error that ended it
};

/// The history of a run, read from its folder.
struct History {
  std::vector<EpochRecord> epochs;
  std::optional<EpochSummary> test;  // metrics of the best epoch
  std::vector<Start> starts;
};

/// Reads the starts of the run folder `root` from system.json. Throws Error(kCheckpoint) if that
/// file is damaged.
std::vector<Start> read_starts(const std::filesystem::path& root);

/// Reads metrics.jsonl of the run folder `root`; the result has no starts. Ignores lines that are
/// no record, such as a line that a crash has truncated. Throws Error(kCheckpoint) for values of
/// the wrong type.
History read_records(const std::filesystem::path& root);

/// Reads both files. Throws as read_starts() and read_records() do.
History read_history(const std::filesystem::path& root);

/// Records in system.json of the run folder `root` how its last start has ended. Throws
/// Error(kFileSystem).
void write_end(const std::filesystem::path& root, End end, const std::string& reason);

/// Records there that the run uses `num_threads` threads from `step` on. Throws Error(kFileSystem).
void write_threads(const std::filesystem::path& root, int64_t step, int64_t num_threads);

}  // namespace trainer::run

namespace trainer {

template <>
std::span<const std::string> enum_names<run::End>();

}  // namespace trainer
