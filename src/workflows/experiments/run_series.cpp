// SPDX-License-Identifier: Apache-2.0
#include "workflows/experiments/run_series.h"

#include <algorithm>
#include <ctime>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trainer/base/error.h"
#include "trainer/config/dump.h"

#include "workflows/experiments/series_ranks.h"

namespace trainer::experiments {

namespace fs = std::filesystem;

namespace {

void read_config_files(const SeriesRequest& request, RunSeries& series) {
  for (const fs::path& file : request.config_files) {
    series.documents.push_back(config::read_document(file));
  }
}

config::Config read_config(const fs::path& run_dir) {
  return config::load({config::read_document(run::RunDir{run_dir}.config())}, {}).config;
}

// Returns whether the folder was named by run_name() with this tag. run::NewFolder adds a number to
// the names of further folders in the same second.
bool has_tag(std::string name, const std::string& tag) {
  const std::string ending = "_" + tag;
  if (name.ends_with(ending)) return true;
  name.resize(name.find_last_not_of("0123456789") + 1);
  return name.ends_with(ending + "_");
}

// Sets the folder of the series to the newest one with this tag for which is_same() is true.
// Returns false if there is none.
bool find_same(const fs::path& parent, const std::string& tag, const std::function<bool()>& is_same,
               RunSeries& series) {
  std::vector<fs::path> folders;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(parent, ignored)) {
    const bool is_folder = !entry.is_symlink(ignored) && entry.is_directory(ignored);
    if (is_folder && has_tag(entry.path().filename().string(), tag)) {
      folders.push_back(entry.path());
    }
  }
  std::sort(folders.rbegin(), folders.rend());
  return std::any_of(folders.begin(), folders.end(), [&](const fs::path& folder) {
    series.folder = folder;
    return is_same();
  });
}

}  // namespace

RunSeries new_series(const SeriesRequest& request) {
  RunSeries series;
  series.overrides = request.overrides;
  read_config_files(request, series);
  shared_config(series);  // reports errors
  return series;
}

void open_series(const SeriesRequest& request, const std::string& suffix,
                 const std::function<bool()>& is_same, RunSeries& series) {
  const config::Config config = shared_config(series);
  series.place = join_ranks(config.distributed, request.environment);
  const fs::path parent = fs::absolute(config.output_dir);
  const std::string tag = config.tag.empty() ? suffix : config.tag + "_" + suffix;
  const auto open = [&] {
    if (!request.resumes_same || !find_same(parent, tag, is_same, series)) {
      series.new_folder =
          std::make_unique<run::NewFolder>(parent, run::run_name(tag, std::time(nullptr)));
      series.folder = series.new_folder->path();
    }
    series.lock = std::make_unique<FolderLock>(series.folder);
    return series.folder.filename().string();
  };
  series.folder = parent / open_for_all(series.place, config.distributed.start_timeout,
                                        request.environment, parent, open);
}

bool has_same_runs(const RunSeries& series, const SeriesRun& first) {
  std::error_code ignored;
  const fs::directory_iterator files(series.folder, ignored);
  if (std::none_of(begin(files), end(files),
                   [](const auto& file) { return file.is_directory(); })) {
    return true;
  }
  const std::optional<fs::path> run = find_run(series.folder, first.tag);
  if (!run) return false;
  if (!fs::exists(run::RunDir{*run}.config())) return true;  // the run had not begun
  try {
    return config::fixed_differences(read_config(*run), run_config(series, first).config).empty();
  } catch (const Error&) {
    return false;  // of another version, with other keys
  }
}

RunSeries read_series(const SeriesRequest& request, const std::string& first_tag,
                      const std::string& what) {
  RunSeries series;
  series.folder = fs::absolute(*request.resume).lexically_normal();
  series.overrides = request.overrides;
  const std::optional<fs::path> first = find_run(series.folder, first_tag);
  if (!first) {
    throw Error(ErrorKind::kCheckpoint,
                fmt::format("{}: expected the folder of {}, which contains a run folder ending in "
                            "_{}; found none",
                            request.resume->string(), what, first_tag));
  }
  series.documents = {config::read_document(run::RunDir{*first}.config())};
  series.before = read_config(*first);
  read_config_files(request, series);
  return series;
}

void resume_series(const SeriesRequest& request, RunSeries& series) {
  const config::DistributedConfig distributed = shared_config(series).distributed;
  series.place = join_ranks(distributed, request.environment);
  open_for_all(series.place, distributed.start_timeout, request.environment, series.folder, [&] {
    series.lock = std::make_unique<FolderLock>(series.folder);
    return series.folder.filename().string();
  });
}

std::optional<fs::path> find_run(const fs::path& folder, const std::string& tag) {
  std::optional<fs::path> newest;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with("_" + tag) || !entry.is_directory(ignored)) continue;
    if (!newest || name > newest->filename().string()) newest = entry.path();
  }
  return newest;
}

config::Config shared_config(const RunSeries& series) {
  return config::load(series.documents, series.overrides).config;
}

config::Loaded run_config(const RunSeries& series, const SeriesRun& run) {
  std::vector<config::Override> overrides = series.overrides;
  overrides.insert(overrides.end(), run.overrides.begin(), run.overrides.end());
  overrides.push_back({"output_dir", series.folder.string(), "folder of the runs"});
  overrides.push_back({"tag", run.tag, "folder of the runs"});
  return config::load(series.documents, overrides);
}

void refuse_changes(const RunSeries& series, const SeriesRun& first, const std::string& what) {
  if (!series.before) return;
  std::vector<std::string> changes;
  for (const auto& change :
       config::fixed_differences(*series.before, run_config(series, first).config)) {
    changes.push_back(
        fmt::format("{}: {} before, {} now", change.key, change.before, change.after));
  }
  if (changes.empty()) return;
  throw Error(ErrorKind::kCheckpoint,
              fmt::format("{}: the configuration differs from that of this {}:\n"
                          "  {}\n"
                          "undo the changes, or start a new one without --resume",
                          series.folder.string(), what, fmt::join(changes, "\n  ")));
}

std::optional<fs::path> find_complete(const RunSeries& series, const SeriesRun& run) {
  const std::optional<fs::path> found = find_run(series.folder, run.tag);
  if (!found || !fs::exists(run::RunDir{*found}.config()) ||
      !fs::exists(run::RunDir{*found}.summary())) {
    return std::nullopt;
  }
  const bool is_wanted =
      config::differences(read_config(*found), run_config(series, run).config).empty();
  return is_wanted ? found : std::nullopt;
}

RunOutcome complete_run(const RunSeries& series, const SeriesRun& run, const TrainFunction& train) {
  if (const std::optional<fs::path> complete = find_complete(series, run)) return {*complete, 0};
  RunJob job{run_config(series, run), std::nullopt, series.place};
  const std::optional<fs::path> before = find_run(series.folder, run.tag);
  if (before && fs::exists(run::RunDir{*before}.checkpoints() / "last.pt")) {
    job.resume = checkpoint::open_checkpoint(*before, checkpoint::OpenMode::kResume);
  }
  return train(job);
}

}  // namespace trainer::experiments
