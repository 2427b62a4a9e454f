// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "trainer/base/io/folder_lock.h"
#include "trainer/run/folder/run_dir.h"
#include "trainer/train/engine/engine.h"
#include "trainer/train/session.h"

namespace trainer::engine {

/// The folder that a run writes to, locked against other processes.
struct RunFolder {
  run::RunDir run;
  uint64_t metrics_bytes = 0;  // bytes of metrics.jsonl up to the resumed checkpoint
  std::shared_ptr<FolderLock> lock;
  bool is_resumed = false;   // it is the folder of the resumed checkpoint
  bool is_complete = false;  // the run has its results already, so nothing in the folder may change
};

/// Whether a run has epochs left to train.
enum class Trains { kNo, kYes };

/// Opens the folder of the resumed run, or creates a new one, and writes the resolved configuration
/// to it if the run trains. Throws Error(kFileSystem), also if records that the checkpoint refers
/// to are missing, or if the request says NewRun::kUnlessStarted and another process has started
/// the run.
RunFolder open_run_folder(const TrainRequest& request, const std::string& resolved, Trains trains);

/// Throws Error(kFileSystem) if the disk lacks space for the checkpoints of the run.
void check_free_space(const train::Session& session, const TrainRequest& request);

}  // namespace trainer::engine
