// SPDX-License-Identifier: Apache-2.0
#include "trainer/run/checkpoint/resume_point.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trainer/base/error.h"
#include "trainer/base/io/log.h"
#include "trainer/base/text/format.h"
#include "trainer/config/dump.h"
#include "trainer/config/load.h"
#include "trainer/run/checkpoint/store.h"
#include "trainer/run/folder/run_dir.h"

namespace trainer::checkpoint {
namespace fs = std::filesystem;
namespace {

// Locks the run folder before the checkpoint is read, so that no other process replaces the files
// meanwhile.
std::shared_ptr<FolderLock> lock_run(const fs::path& file, OpenMode mode) {
  const fs::path run = run::find_run_dir(file);
  if (mode == OpenMode::kReadOnly || run.empty()) return nullptr;
  return std::make_shared<FolderLock>(run);
}

ResumePoint open_newest(const std::vector<fs::path>& files, OpenMode mode) {
  ResumePoint point;
  point.lock = lock_run(files.front(), mode);
  std::vector<std::string> problems;
  for (const fs::path& file : files) {
    try {
      point.checkpoint = read(file);
      point.file = file;
      break;
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::kCheckpoint) throw;
      problems.emplace_back(e.what());
    }
  }
  if (point.file.empty()) {
    throw Error(ErrorKind::kCheckpoint, fmt::format("no checkpoint of this run is readable:\n  {}",
                                                    fmt::join(problems, "\n  ")));
  }
  for (const std::string& problem : problems) log::warning(problem);
  if (!problems.empty()) {
    log::warning(fmt::format("resuming from an older checkpoint, {} at epoch {}, step {}",
                             point.file.string(), point.checkpoint.state.position.epoch,
                             point.checkpoint.state.position.step));
  }
  return point;
}

bool is_same_run(const fs::path& root, const config::Config& config) {
  const fs::path resolved = run::RunDir{root}.config();
  std::error_code ignored;
  if (!fs::exists(resolved, ignored)) return false;
  try {
    const std::string text = config::read_document(resolved).text;
    const config::Config before = config::load({{resolved.string(), text, ""}}, {}).config;
    // A run with other initial weights is a different run.
    return before.tag == config.tag && before.model.init_from == config.model.init_from &&
           config::fixed_differences(before, config).empty();
  } catch (const Error&) {
    return false;  // written by another version with other keys
  }
}

bool is_locked(const fs::path& root) {
  try {
    const FolderLock lock(root);
    return false;
  } catch (const Error&) {
    return true;
  }
}

struct Run {
  fs::path root;
  std::vector<fs::path> checkpoints;  // newest first
  fs::file_time_type time;            // of the newest checkpoint
};

// Returns all runs in `output_dir` that have checkpoints, newest first.
std::vector<Run> runs_in(const fs::path& output_dir) {
  std::vector<Run> runs;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(output_dir, error)) {
    if (entry.is_symlink() || !entry.is_directory()) continue;  // skips links such as runs/latest
    Run run{entry.path(), newest_first(run::RunDir{entry.path()}.checkpoints()), {}};
    if (run.checkpoints.empty()) continue;
    run.time = fs::last_write_time(run.checkpoints.front(), error);
    runs.push_back(std::move(run));
  }
  std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) {
    return std::tie(b.time, b.root) < std::tie(a.time, a.root);
  });
  return runs;
}

}  // namespace

ResumePoint open_checkpoint(const fs::path& given, OpenMode mode) {
  for (const fs::path& folder : {run::RunDir{given}.checkpoints(), given}) {
    const std::vector<fs::path> files = newest_first(folder);
    if (!files.empty()) return open_newest(files, mode);
  }
  const fs::path file = find_checkpoint(given);
  std::shared_ptr<FolderLock> lock = lock_run(file, mode);
  return {file, read(file), std::move(lock)};
}

fs::path find_same_run_at_work(const fs::path& output_dir, const config::Config& config) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(output_dir, error)) {
    if (entry.is_symlink(error) || !entry.is_directory(error)) continue;
    if (is_same_run(entry.path(), config) && is_locked(entry.path())) return entry.path();
  }
  return {};
}

std::optional<ResumePoint> find_same_run(const fs::path& output_dir, const config::Config& config,
                                         OpenMode mode) {
  for (const Run& run : runs_in(output_dir)) {
    if (!is_same_run(run.root, config)) continue;
    try {
      return open_newest(run.checkpoints, mode);
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::kCheckpoint) throw;
      log::warning(e.what());  // all checkpoints of this run are damaged, so older runs are tried
    }
  }
  return std::nullopt;
}

namespace {

// Returns the paths of the newest run folders in `folder`, for a message.
std::vector<std::string> newest_runs(const fs::path& folder) {
  constexpr std::size_t kMaxRuns = 3;
  std::vector<std::string> runs;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.is_symlink(error) || !fs::exists(run::RunDir{entry.path()}.config(), error)) continue;
    runs.push_back((folder / entry.path().filename()).lexically_normal().string());
  }
  std::sort(runs.rbegin(), runs.rend());
  if (runs.size() > kMaxRuns) runs.resize(kMaxRuns);
  return runs;
}

std::string list_checkpoints(fs::path folder) {
  if (folder.empty()) folder = ".";
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".pt") names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  if (!names.empty()) return fmt::format("{} has {}", folder.string(), joined(names));
  const std::vector<std::string> runs = newest_runs(folder);
  if (runs.empty()) return "there are no checkpoints in " + folder.string();
  return "specify a run: " + joined(runs, " or ");
}

[[noreturn]] void no_checkpoint(const fs::path& given, const fs::path& folder) {
  throw Error(ErrorKind::kCheckpoint,
              fmt::format("{}: no such checkpoint; {}", given.string(), list_checkpoints(folder)));
}

}  // namespace

fs::path find_checkpoint(const fs::path& given) {
  if (fs::is_regular_file(given)) return given;
  if (fs::is_directory(given)) {
    for (const fs::path& folder : {given / "checkpoints", given}) {
      if (fs::is_regular_file(folder / "last.pt")) return folder / "last.pt";
    }
    no_checkpoint(given, fs::is_directory(given / "checkpoints") ? given / "checkpoints" : given);
  }
  const fs::path folder = given.parent_path() / "checkpoints";
  if (fs::is_regular_file(folder / given.filename())) return folder / given.filename();
  no_checkpoint(given, fs::is_directory(folder) ? folder : fs::path(given).remove_filename());
}

}  // namespace trainer::checkpoint
