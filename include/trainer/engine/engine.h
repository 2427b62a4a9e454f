// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "trainer/apply/export.h"
#include "trainer/checkpoint/resume_point.h"
#include "trainer/config/load.h"
#include "trainer/metrics/report.h"
#include "trainer/run/progress.h"

/// The part of the program that needs LibTorch, as the few functions that the command line calls.
/// It is a library of its own and is opened when a command first needs tensors, because loading
/// LibTorch takes about a second.
namespace trainer::engine {

enum class OnChange { kRefuse, kAllow };

/// Whether a new run may begin beside others of the same configuration, or, as for --resume auto,
/// only where another process has not begun it meanwhile.
enum class NewRun { kAlways, kUnlessStarted };

/// What train() is asked for.
struct TrainRequest {
  config::Loaded config;
  std::optional<checkpoint::ResumePoint> resume;
  OnChange on_change = OnChange::kRefuse;  // when configuration or data differ from the checkpoint
  NewRun new_run = NewRun::kAlways;
  std::string command_line;
  run::ProgressListener progress;
};

/// How a run went.
struct TrainReport {
  std::filesystem::path run_dir;
  int64_t epochs = 0;
  int64_t planned_epochs = 0;
  int64_t steps = 0;
  bool stopped_early = false;
  int stop_signal = 0;  // of core/signals.h, when it ended the run, with its state saved
  std::optional<checkpoint::Best> best;
  checkpoint::Recoveries recoveries;
  std::string best_metric;                    // "validation loss"
  std::optional<metrics::Report> validation;  // of the best epoch, as the next
  std::optional<metrics::Report> test;
  double time_seconds = 0;
};

/// How a batch size did.
struct BatchTrial {
  int64_t batch_size = 1;
  int64_t num_threads = 1;
  double step_seconds = 0;
  double samples_per_second = 0;
  int64_t memory_bytes = 0;  // of the device, or of the process on the CPU
};

/// What find_batch() is asked for.
struct BatchSearchRequest {
  config::Loaded config;
  int64_t max_batch_size = 0;  // rows; 0: those of the training part
  std::function<void(const BatchTrial&)> progress;
};

/// What find_batch() found.
struct BatchSearchReport {
  std::string device;
  int64_t largest = 0;    // that fits, of those that were tried
  int64_t too_large = 0;  // the least that did not fit; 0: all did
  BatchTrial fastest;     // the smallest of those that are nearly the fastest
};

/// Trains a model and writes its run folder. Throws Error and nothing else.
TrainReport train(const TrainRequest& request);

/// Looks for the largest batch that fits and the fastest one, by real steps; writes nothing.
/// Throws Error and nothing else.
BatchSearchReport find_batch(const BatchSearchRequest& request);

/// Writes `model` as a TorchScript file, which torch.jit.load reads, complete or not at all: it
/// gets its name when it has been loaded again and its outputs are those of apply::Predictor.
/// Throws Error and nothing else.
apply::ExportReport export_torchscript(const apply::Model& model,
                                       const apply::ExportOptions& options,
                                       const std::filesystem::path& path);

}  // namespace trainer::engine
