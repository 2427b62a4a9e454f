// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "trainer/core/json.h"
#include "trainer/metrics/score.h"

namespace trainer::run {

/// One line of metrics.jsonl. What is not set is left out. A number that is not finite is written
/// as null, and `non_finite` says which it was.
struct MetricsRecord {
  int64_t step = 0;   // optimizer steps done
  int64_t epoch = 0;  // counted from 1
  std::string split;  // "train", "validation" or "test"
  std::optional<double> loss;
  std::optional<double> accuracy;           // 0 .. 1
  std::vector<metrics::Score> scores = {};  // of an evaluation, but for the accuracy
  std::optional<double> learning_rate;
  std::optional<double> grad_norm;  // before clipping
  std::optional<double> samples_per_second;
  std::optional<double> time_seconds;           // on records that close an epoch or an evaluation
  std::optional<double> communication_seconds;  // of these, waited for other processes
  std::optional<int64_t> skipped_steps;         // on records that close an epoch; of the run so far
  std::optional<int64_t> rollbacks;             // of the run so far
  std::optional<int64_t> overflowed_steps;      // of the run so far; retried, smaller loss_scale
  std::optional<double> loss_scale;             // of the gradient scaler
  std::optional<int64_t> out_of_memory;         // times that the run went on after it
  std::optional<int64_t> micro_batch_size;      // of a batch, since then
  std::optional<int64_t> memory_bytes;          // of the process
  std::optional<int64_t> peak_memory_bytes;
  std::optional<int64_t> device_memory_bytes;
  std::optional<int64_t> peak_device_memory_bytes;
};

/// The record as JSON; numbers that are not finite are kept, and named.
Json json_of(const MetricsRecord& record);

/// The same as one line of text, without the line break.
std::string to_json(const MetricsRecord& record);

/// Throws Error(kFileSystem) when the file at `path` is shorter than `num_bytes`, which a
/// checkpoint says that it had.
void require_records(const std::filesystem::path& path, uint64_t num_bytes);

/// metrics.jsonl, open for appending. append() writes a record by one system call.
class MetricsLog {
 public:
  /// Of no file: all functions do nothing.
  MetricsLog() = default;
  /// Opens or makes the file and cuts it to `keep_bytes` as cut_to() does.
  MetricsLog(std::filesystem::path path, uint64_t keep_bytes);
  ~MetricsLog();
  MetricsLog(const MetricsLog&) = delete;
  MetricsLog& operator=(const MetricsLog&) = delete;

  /// Throws Error(kFileSystem).
  void append(const MetricsRecord& record);

  /// Cuts the file, so that a run that goes on from an earlier checkpoint repeats no record.
  /// Throws Error(kFileSystem), also when the file is shorter than that.
  void cut_to(uint64_t num_bytes);

  const std::filesystem::path& path() const { return path_; }

  /// Bytes written so far; the state that a checkpoint keeps.
  uint64_t num_bytes() const { return num_bytes_; }

  /// Returns when all records are on the disk. Throws Error(kFileSystem).
  void sync();

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  uint64_t num_bytes_ = 0;
};

}  // namespace trainer::run
