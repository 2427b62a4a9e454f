// SPDX-License-Identifier: Apache-2.0
#include "workflows/experiments/run_comparison.h"

#include <system_error>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/text/json.h"
#include "trainer/run/checkpoint/compare.h"
#include "trainer/run/folder/metrics_log.h"
#include "trainer/run/folder/run_dir.h"

namespace trainer::experiments {
namespace fs = std::filesystem;

RunSnapshot snapshot_runs(const fs::path& output_dir) {
  RunSnapshot trace;
  std::error_code error;  // ignored: files may appear and vanish meanwhile
  for (const auto& entry : fs::directory_iterator(output_dir, error)) {
    if (entry.is_symlink(error)) continue;  // skips the link `latest`
    const run::RunDir run{entry.path()};
    for (const fs::path& changes : {run.metrics(), run.checkpoints()}) {
      const fs::file_time_type time = fs::last_write_time(changes, error);
      if (error) continue;
      const bool is_file = fs::is_regular_file(changes, error);
      trace[changes.string()] = {is_file ? fs::file_size(changes, error) : 0, time};
    }
  }
  return trace;
}

std::optional<int64_t> last_recorded_step(const fs::path& output_dir) {
  std::optional<int64_t> step;
  read_json_lines(run::RunDir{output_dir / "latest"}.metrics(), [&](const JsonReader& record) {
    if (record.has("step")) step = record.integer("step");
  });
  return step;
}

std::optional<std::string> first_run_difference(const fs::path& run_a, const fs::path& run_b) {
  const run::RunDir a{run_a};
  const run::RunDir b{run_b};
  try {
    for (const char* name : {"last.pt", "best.pt"}) {
      const auto difference = checkpoint::first_difference(
          checkpoint::read(a.checkpoints() / name), checkpoint::read(b.checkpoints() / name));
      if (difference) return fmt::format("{}: {}", name, *difference);
    }
    const auto difference = run::first_difference(a.metrics(), b.metrics());
    if (difference) return fmt::format("metrics.jsonl: {}", *difference);
  } catch (const Error& error) {
    return error.what();
  }
  return std::nullopt;
}

}  // namespace trainer::experiments
