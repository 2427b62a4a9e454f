// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "trainer/config/load.h"
#include "trainer/run/checkpoint/run_state.h"

namespace trainer::experiments {

/// What to train, and how often to kill it.
struct ResumeSelftestRequest {
  std::vector<config::Document> documents;  // empty: a built-in configuration
  std::vector<config::Override> overrides;
  int64_t num_kills = 5;
};

/// What the selftest did; it throws if runs differ.
struct ResumeSelftestReport {
  checkpoint::Position end;           // where the uninterrupted run ended
  double training_seconds = 0;        // of the uninterrupted run
  int64_t num_runs = 0;               // runs that were killed and compared with it
  int64_t num_kills = 0;              // of all runs together
  int64_t num_kills_in_training = 0;  // after LibTorch and the data were loaded
  int stop_signal = 0;                // signal that stopped the test; nothing else is set then
};

/// Trains once without and several times with interruptions by SIGKILL, as child processes in a
/// temporary folder, and compares the run folders; returns if all are bit-identical. Sets
/// OMP_NUM_THREADS, if it is not set, to the threads of the first run. Throws Error(kRuntime) with
/// the first difference, or the output of a failed run, and the folder, which is kept then;
/// Error(kUsage) for a wrong configuration.
ResumeSelftestReport selftest_resume(const ResumeSelftestRequest& request);

}  // namespace trainer::experiments
