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
#include "trainer/config/load.h"
#include "trainer/diagnose/doctor/facts.h"
#include "trainer/diagnose/profile/workload.h"
#include "trainer/metrics/report.h"
#include "trainer/run/checkpoint/resume_point.h"
#include "trainer/run/folder/metrics_log.h"

namespace trainer::data {
struct Datasets;
}

/// The functions that need LibTorch, for the command line. They are in a library that is opened
/// when a command first needs tensors, because loading LibTorch takes about a second. The functions
/// are implemented in src/train/engine/engine.cpp.
namespace trainer::engine {

enum class OnChange { kRefuse, kAllow };

/// Whether to start a new run always, or as for --resume auto, only if no other process has started
/// a run of this configuration in the meantime.
enum class NewRun { kAlways, kUnlessStarted };

/// The run that train() starts or resumes, and how it reports progress.
struct TrainRequest {
  config::Loaded config;
  std::optional<checkpoint::ResumePoint> resume;
  /// What to do if the configuration or data differ from the resumed run.
  OnChange on_change = OnChange::kRefuse;
  NewRun new_run = NewRun::kAlways;
  std::string command_line;
  run::ProgressListener progress;
  /// Trains in this process only, even if a launcher started several processes.
  bool is_alone = false;
  /// The result of cache::load_for_run(), which train() moves from. Null means that train() reads
  /// the data itself.
  std::shared_ptr<data::Datasets> data = nullptr;
};

/// The state and the results of a run when train() returns.
struct TrainReport {
  std::filesystem::path run_dir;
  int64_t epochs = 0;
  int64_t planned_epochs = 0;
  int64_t steps = 0;
  bool stopped_early = false;
  /// The signal that stopped the run (base/signals.h), whose state is saved; 0: none.
  int stop_signal = 0;
  bool has_written = true;  // false: the run was complete already, so nothing was written
  bool is_first = true;     // this is rank 0, the process that prints the results
  std::optional<checkpoint::Best> best;
  checkpoint::Recoveries recoveries;
  std::string best_metric;                    // such as "validation loss"
  std::optional<metrics::Report> validation;  // metrics of the best epoch, as `test`
  std::optional<metrics::Report> test;
  double time_seconds = 0;          // since the data were read
  profile::Workload workload = {};  // for this process
};

/// The time and memory that were measured for one batch size.
struct BatchTrial {
  int64_t batch_size = 1;
  int64_t num_threads = 1;
  double step_seconds = 0;
  double samples_per_second = 0;
  int64_t memory_bytes = 0;  // memory used: on the accelerator, or on the CPU by the process
};

/// The settings of a batch search.
struct BatchSearchRequest {
  config::Loaded config;
  int64_t max_batch_size = 0;  // 0: all rows of the training split
  std::function<void(const BatchTrial&)> progress;
};

/// The largest and the fastest batch that a search found.
struct BatchSearchReport {
  std::string device;
  int64_t largest = 0;    // largest batch size that fits
  int64_t too_large = 0;  // the smallest size that did not fit; 0: all sizes did
  BatchTrial fastest;     // the smallest batch that is nearly as fast as the fastest
};

/// The configuration to profile, and for how long.
struct ProfileRequest {
  config::Loaded config;
  int64_t num_steps = 200;
};

/// The work and the durations of the profiled steps. The times of their parts are in the timeline.
struct ProfileReport {
  profile::Workload workload;
  std::vector<double> step_seconds;  // [num_steps] seconds of the measured steps
  /// [num_steps] seconds of the steps in between, without measuring.
  std::vector<double> step_seconds_bare;
};

/// Trains a model and writes its run folder, together with the other processes of a launcher.
/// Throws Error and nothing else.
TrainReport train(const TrainRequest& request);

/// Finds the largest batch that fits and the fastest one by timing real steps. Writes no files.
/// Throws Error and nothing else.
BatchSearchReport find_batch(const BatchSearchRequest& request);

/// Trains for some steps as configured, evaluates, and writes a checkpoint, all measured by the
/// timeline of the process (base/time/timeline.h). The checkpoint is removed again. To show the
/// cost of measuring, blocks of measured steps alternate with blocks of as many steps that are not
/// measured. Throws Error and nothing else.
ProfileReport profile(const ProfileRequest& request);

/// Trains a small network for some steps on every device of this machine, on the CPU with both
/// kinds of step, compares the weights, and times products of LibTorch's BLAS. Takes about a
/// second. A failing device is reported in the facts. Throws Error and nothing else.
doctor::EngineFacts check_devices();

/// Writes `model` as a TorchScript file for torch.jit.load, completely or not at all: the file is
/// loaded again and its outputs are compared with those of apply::Predictor before it is renamed to
/// `path`. Throws Error and nothing else.
apply::ExportReport export_torchscript(const apply::Model& model,
                                       const apply::ExportOptions& options,
                                       const std::filesystem::path& path);

}  // namespace trainer::engine
