// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "trainer/checkpoint/resume_point.h"
#include "trainer/config/load.h"
#include "trainer/run/progress.h"

/// The part of the program that needs LibTorch, as the few functions that the command line calls.
/// It is a library of its own and is opened when a command first needs tensors, because loading
/// LibTorch takes about a second.
namespace trainer::engine {

enum class OnChange { kRefuse, kAllow };

struct TrainRequest {
  config::Loaded config;
  std::optional<checkpoint::ResumePoint> resume;
  OnChange on_change = OnChange::kRefuse;  // when configuration or data differ from the checkpoint
  std::string command_line;
  run::ProgressListener progress;
};

struct TestResult {
  double loss = 0;
  std::optional<double> accuracy;  // classification only
};

struct TrainReport {
  std::filesystem::path run_dir;
  int64_t epochs = 0;
  int64_t steps = 0;
  bool stopped_early = false;
  int stop_signal = 0;  // SIGINT or SIGTERM when it ended the run, with its state saved
  std::optional<checkpoint::Best> best;
  checkpoint::Recoveries recoveries;
  std::string best_metric;  // "validation loss"
  std::optional<TestResult> test;
  double time_seconds = 0;
};

/// Trains a model and writes its run folder. Throws Error and nothing else.
TrainReport train(const TrainRequest& request);

}  // namespace trainer::engine
