// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "trainer/run/folder/run_dir.h"

namespace trainer::run {

/// A folder that keeps what a run wrote after a checkpoint from which it was resumed later
/// (run/checkpoint/store.h), with a summary of its content.
struct Superseded {
  std::filesystem::path folder;  // such as RUN/superseded/1
  int64_t num_records = 0;
  int64_t first_epoch = 0;  // first epoch of the records; 0: no records
  int64_t last_epoch = 0;
  int64_t num_checkpoints = 0;  // number of checkpoint files
  bool has_results = false;     // summary.json exists

  RunDir files() const { return {folder}; }
};

/// Returns the folder of a run that contains all such folders.
std::filesystem::path superseded_folder(const RunDir& run);

/// Reads the content of one such folder. Files that cannot be read count as missing.
Superseded read_superseded(const std::filesystem::path& folder);

/// Reads all such folders of a run, oldest first.
std::vector<Superseded> list_superseded(const RunDir& run);

/// Describes the content, such as "epochs 19 to 30: 32 records, 4 checkpoints, results".
std::string description(const Superseded& superseded);

}  // namespace trainer::run
