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
};

/// Opens the folder of the resumed run, or creates a new one, and writes the resolved configuration
/// to it. Throws Error(kFileSystem), also if another process has started the run and the request
/// says NewRun::kUnlessStarted.
RunFolder open_run_folder(const TrainRequest& request, const std::string& resolved);

/// Throws Error(kFileSystem) if the disk has no room for the checkpoints of the run.
void check_free_space(const train::Session& session, const TrainRequest& request);

}  // namespace trainer::engine
