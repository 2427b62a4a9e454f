// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trainer/base/io/folder_lock.h"
#include "trainer/config/distributed_config.h"
#include "trainer/config/load.h"
#include "trainer/launch/place.h"
#include "trainer/run/folder/run_dir.h"
#include "trainer/workflows/experiments/runs.h"

/// Several runs of one configuration in one folder: the common parts of cross-validations and
/// ensembles. The processes of a launcher share them: rank 0 opens the folder and tells the others;
/// then each trains whole runs.

namespace trainer::experiments {

/// A series that was started or resumed. Only the ranks that share its runs use its folder
/// meanwhile.
struct RunSeries {
  launch::Place place = {};            // rank of this process among those that share the runs
  int64_t max_processes = 1;           // that train its runs at the same time, without a launcher
  std::function<void()> prepare = {};  // SeriesRequest::prepare
  std::filesystem::path folder;
  std::unique_ptr<run::NewFolder> new_folder;  // of a series that was started; on rank 0
  std::unique_ptr<FolderLock> lock;            // of the folder; on rank 0
  std::vector<config::Document> documents;
  std::vector<config::Override> overrides;
  std::optional<config::Config> before;  // that of the first run, if the series was resumed
};

/// A run of a series: a tag that no other run has, the keys in which it differs from the others,
/// and its name in messages, such as "fold 2/5".
struct SeriesRun {
  std::string tag;
  std::vector<config::Override> overrides = {};
  std::string name = {};
};

/// Reads and checks the configuration of a new series, which has no folder yet. Throws
/// Error(kUsage) if the configuration is wrong.
RunSeries new_series(const SeriesRequest& request);

/// Makes the folder of the series, the same on all ranks; its name ends in `suffix`. With
/// request.resumes_same, takes the newest such folder instead for which is_same(), called after
/// series.folder was set to it, is true. Throws Error(kFileSystem), also if another process uses
/// the folder, and the errors of open_for_all().
void open_series(const SeriesRequest& request, const std::string& suffix,
                 const std::function<bool()>& is_same, RunSeries& series);

/// Returns whether the runs in the folder of the series have its configuration; true if there are
/// none. `first` is the run that begins first.
bool has_same_runs(const RunSeries& series, const SeriesRun& first);

/// Reads a series, whose runs have the configuration of the one with the tag `first_tag`. Throws
/// Error(kCheckpoint) if there is none; `what` names the kind of series in the message.
RunSeries read_series(const SeriesRequest& request, const std::string& first_tag,
                      const std::string& what);

/// Opens the folder of a series that was read, on all ranks. No rank changes its files before.
/// Throws Error(kFileSystem) if another process uses it, and the errors of open_for_all().
void resume_series(const SeriesRequest& request, RunSeries& series);

/// Returns the newest run folder in `folder` whose name ends in `tag`, or nothing.
std::optional<std::filesystem::path> find_run(const std::filesystem::path& folder,
                                              const std::string& tag);

/// The threads that predict rows for a series: those of the configuration, or all usable CPUs.
int64_t num_threads(const config::Config& config);

/// Returns the configuration that all runs share, without the overrides of single runs.
config::Config shared_config(const RunSeries& series);

/// Returns the configuration of a run, with its own overrides, output folder and tag.
config::Loaded run_config(const RunSeries& series, const SeriesRun& run);

/// Throws Error(kUsage): a resumed series was started with another value of `option` than it gets.
[[noreturn]] void refuse_option(const SeriesRequest& request, const char* option,
                                const std::string& was, const std::string& got);

/// Throws Error(kCheckpoint) if the configuration of a resumed series differs from that of its runs
/// in keys that may not change. `what` names the kind of series in the message.
void refuse_changes(const RunSeries& series, const SeriesRun& first, const std::string& what);

/// Returns the folder of the run if it is complete: it has a summary.json, and its configuration is
/// the wanted one, also in keys that a resumed run may change, such as the number of epochs.
std::optional<std::filesystem::path> find_complete(const RunSeries& series, const SeriesRun& run);

/// Trains the run unless it is complete. Resumes it if it was interrupted and has a checkpoint.
/// `num_left` is the number of other runs that are not complete yet, which `train` is told.
RunOutcome complete_run(const RunSeries& series, const SeriesRun& run, int64_t num_left,
                        const TrainFunction& train);

/// Returns the rank of this process among those that share the runs. It is alone without a
/// launcher, with an empty `environment`, or with distributed.enabled=off. From now on, ranks other
/// than 0 show only warnings and errors, which begin with their rank. Throws the errors of
/// launch::find_place().
launch::Place join_ranks(const config::DistributedConfig& distributed,
                         const launch::Environment& environment);

/// Calls `open` on rank 0 and returns its result, the name of a folder, on every rank. When this
/// returns on rank 0, all ranks have called it, within `timeout` seconds. Files that are needed for
/// this are in the folder `meeting`.
/// Throws the errors of `open` on rank 0, Error(kFileSystem) on the other ranks if it failed, and
/// the errors of launch::share_text().
std::string open_for_all(const launch::Place& place, double timeout,
                         const launch::Environment& environment,
                         const std::filesystem::path& meeting,
                         const std::function<std::string()>& open);

/// The right to do something that only one process may do at a time: a locked file (flock), which
/// exists only while a process holds the lock. A process that ends in any way loses the lock, but
/// leaves the file if it was killed. Unlike a locked folder, a file that is open for writing also
/// keeps out processes on other machines, on network file systems with locks.
class RunLock {
 public:
  /// Returns nullptr if another process has the lock. Throws Error(kFileSystem) if `file` cannot be
  /// created, or its file system has no locks.
  static std::unique_ptr<RunLock> try_take(const std::filesystem::path& file);

  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

 private:
  RunLock(std::filesystem::path file, int descriptor)
      : file_(std::move(file)), descriptor_(descriptor) {}

  std::filesystem::path file_;
  int descriptor_;
};

/// A child process. It is killed at the end of the scope if it is still running.
class ChildProcess {
 public:
  /// Starts `program` with its standard output and standard error redirected to the new file
  /// `output`. Throws Error(kRuntime).
  ChildProcess(const std::filesystem::path& program, const std::vector<std::string>& arguments,
               const std::filesystem::path& output);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// Returns the exit code, or 128 plus the signal that ended the process; nothing while it is
  /// running.
  std::optional<int> exit_code();

  /// Sends SIGKILL and returns the exit code: 128 + SIGKILL, or another one if the process had just
  /// ended.
  int kill();

 private:
  void remember(int status);

  pid_t id_ = -1;
  std::optional<int> exit_code_;
};

}  // namespace trainer::experiments
