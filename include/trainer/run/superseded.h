// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "trainer/run/run_dir.h"

namespace trainer::run {

/// What a run did after a checkpoint from which it was resumed later (checkpoint/superseded.h): the
/// paths in its folder, and how many.
struct Superseded {
  std::filesystem::path folder;  // RUN/superseded/1
  int64_t num_records = 0;
  int64_t first_epoch = 0;  // of the records; 0: there are none
  int64_t last_epoch = 0;
  int64_t num_checkpoints = 0;  // names of files
  bool has_results = false;     // summary.json

  RunDir files() const { return {folder}; }
};

/// Where a run keeps all of them.
std::filesystem::path superseded_folder(const RunDir& run);

/// What is in one of these folders; what cannot be read is not there.
Superseded read_superseded(const std::filesystem::path& folder);

/// All of a run, oldest first.
std::vector<Superseded> list_superseded(const RunDir& run);

/// "epochs 19 to 30: 32 records, 4 checkpoints, results".
std::string to_text(const Superseded& superseded);

}  // namespace trainer::run
