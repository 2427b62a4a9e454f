// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace trainer::bench {

/// One line of the history: a run of the benchmark.
struct HistoryLine {
  std::string time;
  std::string git_commit;
  std::string verdict;  // "measured" (without a baseline), "ok", "failed", or "busy"
  int64_t num_rows = 0;
  int64_t num_slower = 0;
  double geometric_mean_ms = 0;  // of the medians
  std::string worst_row;         // empty without a baseline
  double worst_percent = 0;
};

/// Appends a line of CSV; a new file gets a header. Throws Error(kFileSystem).
void append_history(const std::filesystem::path& file, const HistoryLine& line);

}  // namespace trainer::bench
