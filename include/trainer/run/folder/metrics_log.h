// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "trainer/base/text/json.h"
#include "trainer/metrics/score.h"

namespace trainer::run {

/// One line of metrics.jsonl. Members that are not set are omitted. A number that is not finite is
/// written as null, and its value as text in the entry `non_finite`.
struct MetricsRecord {
  int64_t step = 0;   // optimizer steps done
  int64_t epoch = 0;  // counted from 1
  std::string split;  // "train", "validation" or "test"
  std::optional<double> loss;
  std::optional<double> accuracy;           // 0 to 1
  std::vector<metrics::Score> scores = {};  // scores of an evaluation, except the accuracy
  std::optional<double> learning_rate;
  std::optional<double> grad_norm;  // before clipping
  std::optional<double> samples_per_second;
  std::optional<double> time_seconds;           // in records of an epoch or an evaluation
  std::optional<double> communication_seconds;  // part of these, waiting for other processes
  std::optional<int64_t> skipped_steps;         // in records of an epoch: number in the run so far
  std::optional<int64_t> rollbacks;             // number in the run so far
  std::optional<int64_t> overflowed_steps;      // retried steps in the run so far
  std::optional<double> loss_scale;             // current loss scale of fp16
  std::optional<int64_t> out_of_memory;         // how often memory ran out and the run continued
  /// Rows of a batch computed together after memory ran out.
  std::optional<int64_t> micro_batch_size;
  std::optional<int64_t> memory_bytes;  // memory of the process
  std::optional<int64_t> peak_memory_bytes;
  std::optional<int64_t> device_memory_bytes;
  std::optional<int64_t> peak_device_memory_bytes;
};

/// Returns the record as JSON. Numbers that are not finite are kept, and also named in
/// `non_finite`.
Json json_of(const MetricsRecord& record);

/// Returns json_of() as one line of text, without the line break.
std::string to_json(const MetricsRecord& record);

/// Throws Error(kFileSystem) if the file at `path` is shorter than `num_bytes`, its length
/// according to a checkpoint.
void require_records(const std::filesystem::path& path, uint64_t num_bytes);

/// The file metrics.jsonl, opened for appending. append() writes a record with one system call.
class MetricsLog {
 public:
  /// A log without a file, whose functions do nothing.
  MetricsLog() = default;
  /// Opens or creates the file and truncates it to `keep_bytes`, as cut_to() does.
  MetricsLog(std::filesystem::path path, uint64_t keep_bytes);
  ~MetricsLog();
  MetricsLog(const MetricsLog&) = delete;
  MetricsLog& operator=(const MetricsLog&) = delete;

  /// Appends a record as one line. Throws Error(kFileSystem).
  void append(const MetricsRecord& record);

  /// Truncates the file to `num_bytes`, so that a run that resumes from an earlier checkpoint
  /// repeats no record. Throws Error(kFileSystem), also if the file is shorter.
  void cut_to(uint64_t num_bytes);

  /// The length of the file in bytes, which checkpoints store.
  uint64_t num_bytes() const { return num_bytes_; }

  /// Returns when all records are on disk. Throws Error(kFileSystem).
  void sync();

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  uint64_t num_bytes_ = 0;
};

/// Compares two files metrics.jsonl, without the fields that depend on the clock
/// (`samples_per_second`, `time_seconds`, `communication_seconds`) and on memory use. Returns
/// nothing if they are equal, else the first line that differs, such as "line 4: {...} and {...}".
/// Throws Error(kFileSystem) for a file that cannot be read.
std::optional<std::string> first_difference(const std::filesystem::path& metrics_a,
                                            const std::filesystem::path& metrics_b);

/// How far a run is. It is sent after each step; the listener decides how often to show it.
struct Progress {
  int64_t epoch = 0;  // counted from 1
  int64_t num_epochs = 0;
  int64_t samples = 0;  // samples of this epoch that are done
  int64_t num_samples = 0;
  int64_t total_samples = 0;    // samples done since this process began
  double loss = 0;              // loss of the last logging interval
  bool may_stop_early = false;  // before all epochs are done
};

using ProgressListener = std::function<void(const Progress&)>;

/// A number of a metrics record, for programs that draw curves.
struct Scalar {
  std::string name;   // such as "loss"
  std::string split;  // such as "train"; empty for numbers of the run, such as the learning rate
  double value = 0;
};

/// Returns the numbers of a record of metrics.jsonl that are drawn as curves. Training records
/// within an epoch have the split "train_steps", those of a whole epoch "train", because they are
/// means over different samples. Throws Error(kCheckpoint) for a record that this program has not
/// written.
std::vector<Scalar> scalars(const JsonReader& record);

}  // namespace trainer::run
