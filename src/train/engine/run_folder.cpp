// SPDX-License-Identifier: Apache-2.0
#include "train/engine/run_folder.h"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/io/atomic_file.h"
#include "trainer/run/folder/history.h"
#include "trainer/run/folder/metrics_log.h"

namespace trainer::engine {
namespace {

// Returns the run folder of the resumed checkpoint, or an empty path if it is in none.
std::filesystem::path resumed_folder(const TrainRequest& request) {
  return request.resume ? run::find_run_dir(request.resume->file) : std::filesystem::path();
}

// Removes temporary files from folders without a checkpoint: a process that was killed before its
// first checkpoint leaves a folder that is never resumed.
void remove_leftovers(const std::filesystem::path& output_dir) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(output_dir, ignored)) {
    const run::RunDir run{entry.path()};
    if (entry.is_symlink(ignored) || !entry.is_directory(ignored) ||
        std::filesystem::exists(run.checkpoints() / "last.pt", ignored) || is_locked(run.root)) {
      continue;
    }
    remove_temporary_files(run.root);
    remove_temporary_files(run.checkpoints());
  }
}

// Creates a run folder with the configuration, by which other processes recognize the run.
RunFolder create_folder(const config::Config& config, const std::string& resolved) {
  remove_leftovers(config.output_dir);
  const run::RunDir run = run::create_run_dir(config.output_dir, config.tag, std::time(nullptr));
  RunFolder folder{run, 0, std::make_shared<FolderLock>(run.root)};
  write_file_atomically(run.config(), resolved);
  return folder;
}

// If several processes start the same run at the same time, only the first one creates it.
RunFolder create_folder_unless_started(const config::Config& config, const std::string& resolved) {
  std::error_code ignored;
  // If it fails, create_folder() throws the reason.
  std::filesystem::create_directories(config.output_dir, ignored);
  if (!std::filesystem::is_directory(config.output_dir, ignored)) {
    return create_folder(config, resolved);
  }
  const FolderLock lock(config.output_dir, FolderLock::WhenTaken::kWait);
  if (const auto running = checkpoint::find_same_run_at_work(config.output_dir, config);
      !running.empty()) {
    throw Error(ErrorKind::kFileSystem,
                fmt::format("{}: another process has started this run; wait until it has finished",
                            running.string()));
  }
  if (checkpoint::find_same_run(config.output_dir, config, checkpoint::OpenMode::kReadOnly)) {
    throw Error(
        ErrorKind::kFileSystem,
        fmt::format(
            "{}: another process has created this run; start the command again to resume it",
            config.output_dir));
  }
  return create_folder(config, resolved);
}

// Whether all files of the run are written: "complete" is recorded in system.json after all others.
bool has_ended(const run::RunDir& run) {
  std::error_code ignored;
  if (!std::filesystem::exists(run.summary(), ignored)) return false;
  const std::vector<run::Start> starts = run::read_starts(run.root);
  return !starts.empty() && starts.back().end == run::End::kComplete;
}

}  // namespace

RunFolder open_run_folder(const TrainRequest& request, const std::string& resolved, Trains trains) {
  if (const auto root = resumed_folder(request); !root.empty()) {
    RunFolder folder{{root}, request.resume->checkpoint.metrics_bytes, request.resume->lock, true};
    folder.is_complete = trains == Trains::kNo && has_ended(folder.run);
    if (folder.is_complete) return folder;
    run::require_records(folder.run.metrics(), folder.metrics_bytes);
    // The file keeps the configuration that the run was trained with, so it is written only if the
    // run trains.
    if (trains == Trains::kYes) write_file_atomically(folder.run.config(), resolved);
    return folder;
  }
  const config::Config& config = request.config.config;
  const bool unless_started = request.new_run == NewRun::kUnlessStarted && !request.resume;
  return unless_started ? create_folder_unless_started(config, resolved)
                        : create_folder(config, resolved);
}

// A run needs space for the checkpoints that it keeps, best.pt, and the next one. A resumed run
// already has those that it keeps.
void check_free_space(const train::Session& session, const TrainRequest& request) {
  const config::CheckpointConfig& config = session.config.checkpoint;
  const int64_t epoch_files = session.config.training.epochs / config.every_epochs + 1;
  const int64_t kept =
      std::min(config.keep_last, epoch_files) + (config.every_steps > 0 ? config.keep_last : 0);
  const std::filesystem::path resumed = resumed_folder(request);
  run::check_free_space(
      resumed.empty() ? std::filesystem::path(session.config.output_dir) : resumed,
      train::checkpoint_bytes(session), resumed.empty() ? kept + 2 : 2);
}

}  // namespace trainer::engine
