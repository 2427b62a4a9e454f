// SPDX-License-Identifier: Apache-2.0
// Ranks agree on who trains which run by locking files in the folder of the series, and by nothing
// else. A rank that dies releases its lock at once, and the first one to notice continues the run.
// Whether a run is complete is only certain while its lock is held: it may be complete for another
// number of epochs, and another rank may just begin with the additional ones.
#include "workflows/experiments/complete_runs.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/io/folder_lock.h"
#include "trainer/base/io/log.h"
#include "trainer/base/signals.h"
#include "trainer/base/text/format.h"
#include "trainer/run/folder/run_dir.h"

#include "workflows/experiments/helpers.h"
#include "workflows/experiments/run_series.h"

namespace trainer::experiments {
namespace {

namespace fs = std::filesystem;

using std::chrono::milliseconds;

constexpr milliseconds kShortestWait{10};
constexpr milliseconds kLongestWait{1000};
constexpr milliseconds kLongestWaitForHelpers{50};

SeriesEnd complete_alone(const RunSeries& series, const std::vector<SeriesRun>& runs,
                         const TrainFunction& train, const OnComplete& on_complete) {
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const int64_t num_left = std::ssize(runs) - static_cast<int64_t>(i) - 1;
    const RunOutcome outcome = complete_run(series, runs[i], num_left, train);
    if (outcome.stop_signal != 0) return {outcome.stop_signal, runs[i].name};
    on_complete(i, outcome.run_dir);
  }
  return {};
}

/// The runs of a series as one rank sees them.
class SharedRuns {
 public:
  SharedRuns(const RunSeries& series, const std::vector<SeriesRun>& runs,
             const TrainFunction& train)
      : series_(series), runs_(runs), train_(train), folders_(runs.size()) {}

  /// Trains runs until each of the others is complete or being trained by another rank.
  SeriesEnd train_free() {
    while (const std::optional<Taken> taken = take_next()) {
      if (const int signal = train(*taken); signal != 0) return stopped(taken->index, signal);
    }
    return {};
  }

  /// Does the same, then waits for the other ranks and takes over runs that they leave, until all
  /// are complete. Calls `on_complete` for one run after the other.
  SeriesEnd complete_all(const OnComplete& on_complete) {
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      while (!folders_[i]) {
        std::optional<Taken> taken = take_next();
        if (!taken && !folders_[i]) {
          if (const int signal = wait_for(i, taken); signal != 0) return stopped(i, signal);
        }
        if (!taken) continue;
        if (const int signal = train(*taken); signal != 0) return stopped(taken->index, signal);
      }
      on_complete(i, *folders_[i]);
    }
    run::point_latest_to({*folders_.back()});  // the last run, even if another one began later
    return {};
  }

 private:
  /// A run that is not complete, and that this process has locked.
  struct Taken {
    std::size_t index;
    std::unique_ptr<RunLock> lock;
  };

  std::optional<Taken> take_next() {
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      if (folders_[i]) continue;
      const SeriesRun& run = runs_[i];
      auto lock = RunLock::try_take(series_.folder / fmt::format(".{}.lock", run.tag));
      if (lock == nullptr) continue;
      folders_[i] = find_complete(series_, run);
      if (!folders_[i]) return Taken{i, std::move(lock)};
    }
    return std::nullopt;
  }

  /// Returns the signal that stopped the run, or 0.
  int train(const Taken& taken) {
    const SeriesRun& run = runs_[taken.index];
    if (const std::optional<fs::path> before = find_run(series_.folder, run.tag)) {
      // Waits until the folder is free: the locks of a killed process are released one after the
      // other.
      const FolderLock free(*before, FolderLock::WhenTaken::kWait);
    }
    const int64_t num_left = std::count(folders_.begin(), folders_.end(), std::nullopt) - 1;
    const RunOutcome outcome = complete_run(series_, run, num_left, train_);
    if (outcome.stop_signal == 0) folders_[taken.index] = outcome.run_dir;
    return outcome.stop_signal;
  }

  /// Waits until the run is complete or another one could be taken. Returns the signal that ended
  /// the wait, or 0.
  int wait_for(std::size_t index, std::optional<Taken>& taken) {
    announce();
    watch_signals();
    milliseconds length = kShortestWait;
    while (!folders_[index] && !taken && stop_request() == 0) {
      std::this_thread::sleep_for(length);
      length = std::min(2 * length, has_helpers() ? kLongestWaitForHelpers : kLongestWait);
      taken = take_next();
    }
    const int signal = stop_request();
    unwatch_signals();
    return signal;
  }

  void announce() {
    if (is_announced_ || has_helpers()) return;
    is_announced_ = true;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      if (!folders_[i]) names.push_back(runs_[i].name);
    }
    log::info(fmt::format("waiting for {}, which other ranks train", joined(names)));
  }

  bool has_helpers() const { return series_.place.launcher == launch::Launcher::kNone; }

  SeriesEnd stopped(std::size_t index, int signal) const { return {signal, runs_[index].name}; }

  const RunSeries& series_;
  const std::vector<SeriesRun>& runs_;
  const TrainFunction& train_;
  std::vector<std::optional<fs::path>> folders_;  // of runs that are known to be complete
  bool is_announced_ = false;
};

void require_shared_folder(const RunSeries& series) {
  std::error_code ignored;
  if (fs::is_directory(series.folder, ignored)) return;
  throw Error(ErrorKind::kFileSystem,
              fmt::format("{}: expected the folder that rank 0 made, found none; set output_dir to "
                          "a folder that all ranks share",
                          series.folder.string()));
}

// A series is resumed with the configuration of its first run, so that has to be there before those
// of the others.
void wait_for_config(const RunSeries& series, const SeriesRun& first) {
  for (;;) {
    const std::optional<fs::path> run = find_run(series.folder, first.tag);
    if (run && fs::exists(run::RunDir{*run}.config())) return;
    std::this_thread::sleep_for(kShortestWait);
  }
}

SeriesEnd complete_with_helpers(RunSeries& series, int64_t count,
                                const std::vector<SeriesRun>& runs, const TrainFunction& train,
                                const OnComplete& on_complete) {
  series.place.size = series.place.local_size = count;
  const Helpers helpers(count - 1, [&](int64_t number) {
    series.lock.reset();  // the first process has it; else it would last as long as this one
    series.place.rank = series.place.local_rank = number;
    if (series.prepare) series.prepare();
    wait_for_config(series, runs.front());
    SharedRuns(series, runs, train).train_free();
  });
  const SeriesEnd end = SharedRuns(series, runs, train).complete_all(on_complete);
  series.place = {};
  return end;
}

}  // namespace

SeriesEnd complete_runs(RunSeries& series, const std::vector<SeriesRun>& runs,
                        const TrainFunction& train, const OnComplete& on_complete) {
  if (series.place.size == 1) {
    const int64_t count = std::min(series.max_processes, std::ssize(runs));
    if (count > 1) return complete_with_helpers(series, count, runs, train, on_complete);
    return complete_alone(series, runs, train, on_complete);
  }
  SharedRuns shared(series, runs, train);
  if (series.place.rank == 0) return shared.complete_all(on_complete);
  require_shared_folder(series);
  return shared.train_free();
}

}  // namespace trainer::experiments
