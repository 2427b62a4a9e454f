// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trainer/core/enum_names.h"
#include "trainer/metrics/score.h"

namespace trainer::tracking {

/// What is in a folder: one run, or several of `trainer cv` or `trainer ensemble`.
enum class Kind { kRun, kCrossValidation, kEnsemble };

/// kStopped: by a signal, with its state saved. kKilled: without a word.
enum class State { kRunning, kComplete, kStopped, kFailed, kKilled };

/// What a list of runs says about one.
struct RunEntry {
  std::filesystem::path folder;
  std::string name;  // of the folder
  Kind kind = Kind::kRun;
  State state = State::kKilled;
  std::string reason;          // the signal, or the message of the error
  std::string started;         // the first time, as ISO 8601 has it; empty: not known
  double seconds = 0;          // of training, in all of its epochs
  int64_t epochs = 0;          // done; of several runs, how many are complete
  int64_t planned_epochs = 0;  // or runs
  std::string tag;
  std::string note;
  std::string best_metric;  // "val.loss"; "test.loss" of a cross-validation; empty: none yet
  std::optional<double> best;
  /// "val.loss" and others of the best epoch, "test.accuracy" and others of the best weights; of
  /// a cross-validation the means over its runs.
  std::vector<metrics::Score> metrics;
  /// The values of keys that are not the defaults, as one line of YAML.
  std::map<std::string, std::string> settings;
  std::string problem;  // what of it cannot be read; empty: nothing
};

/// What `folder` is by the files in it; nothing for another folder.
std::optional<Kind> kind_of(const std::filesystem::path& folder);

/// The entry of a run folder, of a cross-validation or an ensemble; nothing for another folder.
/// What is missing or damaged is left out.
std::optional<RunEntry> read_entry(const std::filesystem::path& folder);

/// All of the folder `parent`, the newest first. What was read of runs that nobody works on is kept
/// in the file .runs.json there, a cache that may be removed at any time.
std::vector<RunEntry> read_entries(const std::filesystem::path& parent);

/// The value of a key in the configuration of a run.
std::string setting(const RunEntry& entry, const std::string& key);

/// "accuracy" of "val.accuracy".
std::string score_name(const std::string& metric);

/// Whether larger values of a metric with a split before it ("val.accuracy") are better.
bool is_better_when_larger(const std::string& metric);

}  // namespace trainer::tracking

namespace trainer {

template <>
std::span<const std::string> enum_names<tracking::Kind>();

template <>
std::span<const std::string> enum_names<tracking::State>();

}  // namespace trainer
