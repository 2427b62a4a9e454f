// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trainer/apply/export.h"
#include "trainer/checkpoint/resume_point.h"
#include "trainer/config/load.h"
#include "trainer/doctor/facts.h"
#include "trainer/metrics/report.h"
#include "trainer/profile/workload.h"
#include "trainer/run/progress.h"

namespace trainer::data {
struct Datasets;
}

/// The functions that need LibTorch, as the command line calls them. They are in a library that is
/// opened when a command first needs tensors, because loading LibTorch takes about a second. The
/// functions are implemented in src/engine/engine.cpp.
namespace trainer::engine {

enum class OnChange { kRefuse, kAllow };

/// Whether to start a new run always, or as for --resume auto, only if no other process has started
/// a run of this configuration in the meantime.
enum class NewRun { kAlways, kUnlessStarted };

/// The arguments of train().
struct TrainRequest {
  config::Loaded config;
  std::optional<checkpoint::ResumePoint> resume;
  OnChange on_change = OnChange::kRefuse;  // if configuration or data differ from the checkpoint
  NewRun new_run = NewRun::kAlways;
  std::string command_line;
  run::ProgressListener progress;
  bool is_alone = false;  // although a launcher started several processes: they train other runs
  /// What cache::load_for_run() has returned, which train() takes; null: it reads the data itself.
  std::shared_ptr<data::Datasets> data = nullptr;
};

/// The result of train().
struct TrainReport {
  std::filesystem::path run_dir;
  int64_t epochs = 0;
  int64_t planned_epochs = 0;
  int64_t steps = 0;
  bool stopped_early = false;
  int stop_signal = 0;      // of core/signals.h, if one stopped the run; its state is saved
  bool has_written = true;  // to the run folder; false: the run was complete already
  bool is_first = true;     // of the processes of the run: who tells people about it
  std::optional<checkpoint::Best> best;
  checkpoint::Recoveries recoveries;
  std::string best_metric;                    // "validation loss"
  std::optional<metrics::Report> validation;  // of the best epoch, like `test`
  std::optional<metrics::Report> test;
  double time_seconds = 0;          // since the data were read
  profile::Workload workload = {};  // of this process
};

/// The measurement of one batch size.
struct BatchTrial {
  int64_t batch_size = 1;
  int64_t num_threads = 1;
  double step_seconds = 0;
  double samples_per_second = 0;
  int64_t memory_bytes = 0;  // of the device; on the CPU, of the process
};

/// The arguments of find_batch().
struct BatchSearchRequest {
  config::Loaded config;
  int64_t max_batch_size = 0;  // 0: all rows of the training split
  std::function<void(const BatchTrial&)> progress;
};

/// The result of find_batch().
struct BatchSearchReport {
  std::string device;
  int64_t largest = 0;    // batch size that fits
  int64_t too_large = 0;  // the smallest one that did not fit; 0: all did
  BatchTrial fastest;     // the smallest batch that is nearly the fastest
};

/// The arguments of profile().
struct ProfileRequest {
  config::Loaded config;
  int64_t num_steps = 200;
};

/// The result of profile(); the times themselves are in the timeline.
struct ProfileReport {
  profile::Workload workload;
  std::vector<double> step_seconds;       // [num_steps] of those that were measured
  std::vector<double> step_seconds_bare;  // [num_steps] of those in between that were not
};

/// Trains a model and writes its run folder, together with the other processes of a launcher.
/// Throws Error and nothing else.
TrainReport train(const TrainRequest& request);

/// Finds the largest batch that fits and the fastest one, by timing real steps; writes no files.
/// Throws Error and nothing else.
BatchSearchReport find_batch(const BatchSearchRequest& request);

/// Trains for some steps as configured, evaluates, and writes a checkpoint that is removed again,
/// while the timeline of the process (core/timeline.h) measures; leaves no files. To show what
/// measuring costs, blocks of steps that are measured alternate with as many that are not. Throws
/// Error and nothing else.
ProfileReport profile(const ProfileRequest& request);

/// Trains a small network for some steps on every device of this machine, and on the CPU by both
/// kinds of step, compares the weights, and multiplies with LibTorch's BLAS; about a second. What
/// fails is part of the facts. Throws Error and nothing else.
doctor::EngineFacts check_devices();

/// Writes `model` as a TorchScript file for torch.jit.load, complete or not at all: the file is
/// loaded again and its outputs are compared with those of apply::Predictor before it is moved into
/// place. Throws Error and nothing else.
apply::ExportReport export_torchscript(const apply::Model& model,
                                       const apply::ExportOptions& options,
                                       const std::filesystem::path& path);

}  // namespace trainer::engine
