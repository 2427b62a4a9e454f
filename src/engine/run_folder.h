// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "trainer/core/folder_lock.h"
#include "trainer/engine/engine.h"
#include "trainer/run/run_dir.h"
#include "trainer/train/session.h"

namespace trainer::engine {

/// The folder that a run writes to, locked against other processes.
struct RunFolder {
  run::RunDir run;
  uint64_t metrics_bytes = 0;  // of metrics.jsonl that belong to the resumed checkpoint
  std::shared_ptr<FolderLock> lock;
  bool is_resumed = false;   // it is that of the resumed checkpoint
  bool is_complete = false;  // and has its results already: nothing in it is to change
};

/// Whether a run has epochs to train, or none any more.
enum class Trains { kNo, kYes };

/// Opens the folder of the resumed run, or creates a new one, and writes the resolved configuration
/// to it if the run trains. Throws Error(kFileSystem), also if another process has started the run
/// and the request says NewRun::kUnlessStarted, or records of the checkpoint are not there.
RunFolder open_run_folder(const TrainRequest& request, const std::string& resolved, Trains trains);

/// Throws Error(kFileSystem) if the disk has no room for the checkpoints of the run.
void check_free_space(const train::Session& session, const TrainRequest& request);

}  // namespace trainer::engine
