// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "trainer/base/io/folder_lock.h"
#include "trainer/run/folder/run_dir.h"
#include "trainer/table/dataset.h"
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

/// Compares the configuration and data of the resumed run with the current ones. Returns the
/// differences, one line each, if they are allowed; else throws Error(kCheckpoint) with every key
/// and data file that differs.
std::vector<std::string> check_resume(const TrainRequest& request, const data::Datasets& data);

/// Compares the rounding of bf16 products, which depends on the processor, in the same way.
std::vector<std::string> check_products(const TrainRequest& request, const train::Session& session);

/// Sets `data.shuffle_window` to all rows if the resumed run is of an older version, which shuffled
/// all rows together, so that the order of its rows does not change.
void keep_order(const TrainRequest& request, const data::Datasets& data, config::Config& config);

}  // namespace trainer::engine
