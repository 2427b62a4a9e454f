// SPDX-License-Identifier: Apache-2.0
#include "devices/history.h"

#include <fstream>

#include <fmt/format.h>

#include "trainer/base/error.h"

namespace trainer::bench {

void append_history(const std::filesystem::path& file, const HistoryLine& line) {
  std::ofstream out(file, std::ios::binary | std::ios::app);
  // Explicitly to the end: libraries differ in the initial position of a file opened for appending.
  out.seekp(0, std::ios::end);
  if (out.tellp() == 0) {
    out << "time,git_commit,verdict,rows,slower_rows,geometric_mean_ms,worst_row,worst_percent\n";
  }
  const std::string worst =
      line.worst_row.empty() ? "," : fmt::format("{},{:.1f}", line.worst_row, line.worst_percent);
  out << fmt::format("{},{},{},{},{},{:.4f},{}\n", line.time, line.git_commit.substr(0, 12),
                     line.verdict, line.num_rows, line.num_slower, line.geometric_mean_ms, worst);
  if (!out.flush()) {
    throw Error(ErrorKind::kFileSystem,
                fmt::format("{}: cannot be written; choose another --history", file.string()));
  }
}

}  // namespace trainer::bench
