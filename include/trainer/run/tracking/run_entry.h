// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trainer/base/text/enum_names.h"
#include "trainer/metrics/score.h"

namespace trainer::tracking {

/// What a folder contains: one run, or several runs of `trainer cv` or `trainer ensemble`.
enum class Kind { kRun, kCrossValidation, kEnsemble };

/// kStopped: by a signal, with its state saved. kKilled: without a record of its end.
enum class State { kRunning, kComplete, kStopped, kFailed, kKilled };

/// A run, or a series of runs, as lists show it.
struct RunEntry {
  std::filesystem::path folder;
  std::string name;  // of the folder
  Kind kind = Kind::kRun;
  State state = State::kKilled;
  std::string reason;          // the signal, or the message of the error
  std::string started;         // the first start, in ISO 8601; empty: not known
  double seconds = 0;          // of training, in all of its epochs
  int64_t epochs = 0;          // finished ones; of a series, complete runs
  int64_t planned_epochs = 0;  // or planned runs of a series
  std::string tag;
  std::string note;
  std::string best_metric;  // "val.loss"; of a cross-validation "test.loss"; empty: none yet
  std::optional<double> best;
  /// The scores of the best epoch ("val.loss") and, on the test split, of the best weights
  /// ("test.accuracy"); of a cross-validation, the means over its runs.
  std::vector<metrics::Score> metrics;
  /// The keys whose values are not the defaults, with these values as one line of YAML.
  std::map<std::string, std::string> settings;
  std::string problem;  // which part of it cannot be read; empty: all can
};

/// Returns what `folder` contains, according to its files; nothing if it is neither a run nor a
/// series.
std::optional<Kind> kind_of(const std::filesystem::path& folder);

/// Returns the entry of the folder of a run or a series; nothing for another folder. What is
/// missing or damaged is left out.
std::optional<RunEntry> read_entry(const std::filesystem::path& folder);

/// Returns the entries of all runs in the folder `parent`, the newest first. Entries of runs that
/// no process works on are cached in the file .runs.json there, which may be removed at any time.
std::vector<RunEntry> read_entries(const std::filesystem::path& parent);

/// Returns the value of a key in the configuration of a run, as one line of YAML.
std::string setting(const RunEntry& entry, const std::string& key);

/// Returns the name of a metric without its split: "accuracy" for "val.accuracy".
std::string score_name(const std::string& metric);

/// Returns whether larger values of a metric with its split ("val.accuracy") are better.
bool is_better_when_larger(const std::string& metric);

}  // namespace trainer::tracking

namespace trainer {

template <>
std::span<const std::string> enum_names<tracking::Kind>();

template <>
std::span<const std::string> enum_names<tracking::State>();

}  // namespace trainer

namespace trainer::tracking {

/// Returns the note about a run, that is, the content of run::RunDir::note() without line breaks at
/// the end; empty if there is none.
std::string read_note(const std::filesystem::path& folder);

/// Replaces the note about a run; an empty text removes it. Throws Error(kFileSystem).
void write_note(const std::filesystem::path& folder, const std::string& text);

}  // namespace trainer::tracking
