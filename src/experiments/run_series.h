// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trainer/config/load.h"
#include "trainer/core/folder_lock.h"
#include "trainer/experiments/runs.h"
#include "trainer/launch/place.h"
#include "trainer/run/run_dir.h"

/// Several runs of one configuration, in one folder: what a cross-validation and an ensemble have
/// in common.
namespace trainer::experiments {

/// What to start or resume.
struct SeriesRequest {
  std::vector<std::filesystem::path> config_files;
  std::vector<config::Override> overrides;
  std::optional<std::filesystem::path> resume;  // the folder of an interrupted series
  bool resumes_same = false;  // goes on with the newest one of the same settings, if there is any
  launch::Environment environment = {};  // where a launcher leaves its variables
};

/// A new or resumed series. Nobody else uses its folder meanwhile, but the other ranks.
struct RunSeries {
  launch::Place place = {};  // of this process among the ranks that share the runs
  std::filesystem::path folder;
  std::unique_ptr<run::NewFolder> new_folder;  // of a new one, on rank 0
  std::unique_ptr<FolderLock> lock;            // on rank 0
  std::vector<config::Document> documents;
  std::vector<config::Override> overrides;
  std::optional<config::Config> before;  // of the first run of a resumed one
};

/// A run of a series: a tag that no other has, and the keys in which it differs.
struct SeriesRun {
  std::string tag;
  std::vector<config::Override> overrides;
};

/// A series without a folder. Throws Error(kUsage) for a wrong configuration.
RunSeries new_series(const SeriesRequest& request);

/// Makes its folder, whose name ends in `suffix`, on all ranks the same. If the request says so,
/// takes the newest one for which is_same(), called with `series` in that folder, is true. Throws
/// Error(kFileSystem), also if another process uses the folder, and the errors of open_for_all().
void open_series(const SeriesRequest& request, const std::string& suffix,
                 const std::function<bool()>& is_same, RunSeries& series);

/// Whether the runs in the folder of the series, if there are any, have its configuration. `first`:
/// the run that begins first.
bool has_same_runs(const RunSeries& series, const SeriesRun& first);

/// Reads a series, whose runs have the configuration of the one called `first_tag`. Throws
/// Error(kCheckpoint) if there is none; `what` it should be the folder of.
RunSeries read_series(const SeriesRequest& request, const std::string& first_tag,
                      const std::string& what);

/// Opens the folder of a series that was read, on all ranks; nobody changes its files before.
/// Throws Error(kFileSystem) if another process uses it, and the errors of open_for_all().
void resume_series(const SeriesRequest& request, RunSeries& series);

/// The newest run folder whose name ends in `tag` within `folder`, or nothing.
std::optional<std::filesystem::path> find_run(const std::filesystem::path& folder,
                                              const std::string& tag);

/// The configuration that the runs share, as given.
config::Config shared_config(const RunSeries& series);

/// The configuration of a run.
config::Loaded run_config(const RunSeries& series, const SeriesRun& run);

/// Throws Error(kCheckpoint) if a resumed series would have runs of different configurations.
void refuse_changes(const RunSeries& series, const SeriesRun& first, const std::string& what);

/// The folder of the run, if it is complete: it has a summary.json, and its configuration is the
/// wanted one, also in keys that a resumed run may change, such as the number of epochs.
std::optional<std::filesystem::path> find_complete(const RunSeries& series, const SeriesRun& run);

/// Trains the run unless it is complete already, from the checkpoint of an interrupted one if there
/// is one.
RunOutcome complete_run(const RunSeries& series, const SeriesRun& run, const TrainFunction& train);

}  // namespace trainer::experiments
