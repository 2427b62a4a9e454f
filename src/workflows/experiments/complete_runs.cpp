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
#include <set>
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

/// Signals are also watched between runs, and while one reads its data.
struct SignalWatch {
  SignalWatch() { watch_signals(); }
  ~SignalWatch() { unwatch_signals(); }
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;
};

/// The runs of a series as one rank sees them.
class SharedRuns {
 public:
  SharedRuns(const RunSeries& series, const RunPlan& plan, const TrainFunction& train)
      : series_(series), plan_(plan), train_(train) {}

  /// Trains runs until each of the others is complete or being trained by another rank, and, if
  /// these can lead to more, until there are none.
  SeriesEnd train_free() {
    for (;;) {
      std::optional<Taken> taken = take_next();
      if (!taken && (busy_.empty() || !plan_.grows)) return {};
      if (!taken) {
        if (const int signal = wait(taken); signal != 0) return {signal, joined(busy_)};
      }
      if (!taken) continue;
      if (const int signal = train(*taken); signal != 0) return {signal, taken->run.name};
    }
  }

  /// Trains runs, waits for the other ranks and takes over runs that they leave, until all are
  /// complete.
  SeriesEnd complete_all() {
    const SignalWatch watch;
    return complete_watched();
  }

 private:
  SeriesEnd complete_watched() {
    for (;;) {
      report();
      if (const int signal = stop_request(); signal != 0) return {signal, "the evaluation"};
      std::optional<Taken> taken = take_next();
      if (!taken && complete_.size() > num_reported_) continue;
      if (!taken && busy_.empty()) return {};
      if (!taken) {
        announce();
        if (const int signal = wait(taken); signal != 0) return {signal, joined(busy_)};
      }
      if (!taken) continue;
      if (const int signal = train(*taken); signal != 0) return {signal, taken->run.name};
    }
  }

  /// A run that is not complete, and that this process has locked if others share the runs.
  struct Taken {
    SeriesRun run;
    std::unique_ptr<RunLock> lock = {};
    int64_t num_left = 0;
  };

  /// Returns the first run that can begin, and notes which are complete or being trained.
  std::optional<Taken> take_next() {
    for (;;) {
      const std::size_t num_complete = complete_.size();
      busy_.clear();
      const std::vector<SeriesRun> runs = plan_.runs(complete_);
      for (const SeriesRun& run : runs) {
        if (std::optional<Taken> taken = try_take(run)) {
          taken->num_left = count_left(runs) - 1;
          return taken;
        }
      }
      if (!plan_.grows || complete_.size() == num_complete) return std::nullopt;
    }
  }

  std::optional<Taken> try_take(const SeriesRun& run) {
    if (complete_.contains(run.tag) || left_out_.contains(run.tag)) return std::nullopt;
    Taken taken{run};
    if (is_shared()) {
      taken.lock = RunLock::try_take(series_.folder / fmt::format(".{}.lock", run.tag));
      if (taken.lock == nullptr) {
        busy_.push_back(run.name);
        return std::nullopt;
      }
    }
    if (const std::optional<fs::path> folder = find_complete(series_, run)) {
      complete_[run.tag] = *folder;
      return std::nullopt;
    }
    if (plan_.may_begin(run)) return taken;
    left_out_.insert(run.tag);
    return std::nullopt;
  }

  int64_t count_left(const std::vector<SeriesRun>& runs) const {
    return std::count_if(runs.begin(), runs.end(), [&](const SeriesRun& run) {
      return !complete_.contains(run.tag) && !left_out_.contains(run.tag);
    });
  }

  /// Returns the signal that stopped the run, or 0.
  int train(const Taken& taken) {
    const std::optional<fs::path> before = find_run(series_.folder, taken.run.tag);
    if (before && is_shared()) {
      // Waits until the folder is free: the locks of a killed process are released one after the
      // other.
      const FolderLock free(*before, FolderLock::WhenTaken::kWait);
    }
    const RunOutcome outcome = complete_run(series_, taken.run, taken.num_left, train_);
    if (outcome.stop_signal == 0) complete_[taken.run.tag] = outcome.run_dir;
    return outcome.stop_signal;
  }

  /// Waits until another run is complete or can be taken. Returns the signal that ended the wait,
  /// or 0.
  int wait(std::optional<Taken>& taken) {
    watch_signals();
    const std::size_t num_complete = complete_.size();
    milliseconds length = kShortestWait;
    while (!taken && !busy_.empty() && complete_.size() == num_complete && stop_request() == 0) {
      std::this_thread::sleep_for(length);
      length = std::min(2 * length, has_helpers() ? kLongestWaitForHelpers : kLongestWait);
      taken = take_next();
    }
    const int signal = stop_request();
    unwatch_signals();
    return signal;
  }

  void report() {
    if (complete_.size() == num_reported_) return;
    num_reported_ = complete_.size();
    plan_.on_progress(complete_);
  }

  void announce() {
    if (is_announced_ || has_helpers()) return;
    is_announced_ = true;
    log::info(fmt::format("waiting for {}, which other ranks train", joined(busy_)));
  }

  bool is_shared() const { return series_.place.size > 1; }
  bool has_helpers() const { return series_.place.launcher == launch::Launcher::kNone; }

  const RunSeries& series_;
  const RunPlan& plan_;
  const TrainFunction& train_;
  CompleteRuns complete_;
  std::set<std::string> left_out_;  // tags of runs that may not begin
  std::vector<std::string> busy_;   // names of runs that other ranks train
  std::size_t num_reported_ = 0;
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

SeriesEnd complete_with_helpers(RunSeries& series, int64_t count, const RunPlan& plan,
                                const TrainFunction& train) {
  series.place.size = series.place.local_size = count;
  const Helpers helpers(count - 1, [&](int64_t number) {
    series.lock.reset();  // the first process has it; else it would last as long as this one
    series.place.rank = series.place.local_rank = number;
    if (series.prepare) series.prepare();
    wait_for_config(series, plan.runs({}).front());
    SharedRuns(series, plan, train).train_free();
  });
  const SeriesEnd end = SharedRuns(series, plan, train).complete_all();
  series.place = {};
  return end;
}

}  // namespace

SeriesEnd complete_plan(RunSeries& series, const RunPlan& plan, const TrainFunction& train) {
  if (series.place.size == 1 && series.max_processes > 1) {
    return complete_with_helpers(series, series.max_processes, plan, train);
  }
  SharedRuns shared(series, plan, train);
  if (series.place.rank == 0) return shared.complete_all();
  require_shared_folder(series);
  return shared.train_free();
}

SeriesEnd complete_runs(RunSeries& series, const std::vector<SeriesRun>& runs,
                        const TrainFunction& train, const OnComplete& on_complete) {
  std::size_t num_reported = 0;
  RunPlan plan;
  plan.runs = [&](const CompleteRuns&) { return runs; };
  plan.on_progress = [&](const CompleteRuns& complete) {
    for (; num_reported < runs.size(); ++num_reported) {
      const auto found = complete.find(runs[num_reported].tag);
      if (found == complete.end()) return;
      on_complete(num_reported, found->second);
    }
    // The last run, even if another one began later.
    if (!runs.empty()) run::point_latest_to({complete.at(runs.back().tag)});
  };
  series.max_processes = std::min<int64_t>(series.max_processes, std::ssize(runs));
  return complete_plan(series, plan, train);
}

}  // namespace trainer::experiments
