// SPDX-License-Identifier: Apache-2.0
#include "train/engine/profile_run.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/io/user_folders.h"
#include "trainer/base/signals.h"
#include "trainer/base/time/long_work.h"
#include "trainer/base/time/stopwatch.h"
#include "trainer/base/time/time_scopes.h"
#include "trainer/base/time/timeline.h"
#include "trainer/config/dump.h"
#include "trainer/run/checkpoint/checkpoint.h"
#include "trainer/run/checkpoint/store.h"
#include "trainer/train/out_of_memory.h"
#include "trainer/train/session.h"

#include "train/engine/trial_session.h"
#include "train/engine/workload.h"

namespace trainer::engine {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kWarmUpSteps = 20;
constexpr double kWarmUpSeconds = 0.2;
constexpr int64_t kStepsInBlock = 10;
constexpr std::string_view kMeasuring = "measuring steps";

/// A folder that is removed with its contents at the end of the scope.
class TemporaryFolder {
 public:
  // Creates the folder on the disk that the run would write to, if `output_dir` exists, because
  // another disk may have another speed.
  explicit TemporaryFolder(const fs::path& output_dir) {
    std::error_code ignored;
    const bool is_there = fs::is_directory(output_dir, ignored);
    path_ =
        (is_there ? output_dir : temporary_folder()) / fmt::format(".trainer_profile_{}", getpid());
    fs::create_directories(path_);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// Runs one step and returns the number of its rows.
int64_t make_step(train::Session& session) {
  const train::StepStats stats = train::run_step(session);
  train::advance(session, stats);
  if (train::epoch_is_complete(session)) {
    train::finish_interval(session);
    train::finish_epoch(session);
  }
  return stats.num_samples;
}

void warm_up(train::Session& session) {
  const TimedStage timed(Stage::kUnmeasured);
  const TimelinePause pause;
  const Stopwatch stopwatch;
  for (int64_t i = 0; i < kWarmUpSteps && stopwatch.seconds() < kWarmUpSeconds; ++i) {
    make_step(session);
  }
}

void make_steps(train::Session& session, const ProfileRequest& request, ProfileReport& report) {
  const LongWork measuring(kMeasuring);
  const auto make_block = [&](std::vector<double>& seconds) {
    int64_t rows = 0;
    const int64_t done = std::ssize(seconds);
    for (int64_t i = std::min(kStepsInBlock, request.num_steps - done); i > 0; --i) {
      const Stopwatch stopwatch;
      rows += make_step(session);
      seconds.push_back(stopwatch.seconds());
    }
    return rows;
  };
  while (std::ssize(report.step_seconds) < request.num_steps) {
    {
      const TimedStage timed(Stage::kUnmeasured);
      const TimelinePause pause;
      make_block(report.step_seconds_bare);
    }
    report.workload.rows += make_block(report.step_seconds);
    if (stop_request() != 0) {
      throw Error(ErrorKind::kRuntime, "stopped by a signal; nothing was written");
    }
    report_long_work(kMeasuring, static_cast<double>(std::ssize(report.step_seconds)) /
                                     static_cast<double>(request.num_steps));
  }
}

void evaluate(train::Session& session) {
  const TimedStage timed(Stage::kEvaluate);
  if (session.validation) session.step->evaluate(*session.validation);
}

void write_checkpoint(const train::Session& session, const ProfileRequest& request) {
  const TemporaryFolder folder(request.config.config.output_dir);
  const TimedStage timed(Stage::kSave);
  checkpoint::Checkpoint checkpoint = train::snapshot(session);
  checkpoint.config = config::dump(request.config);
  checkpoint::Store(folder.path(), /*keep_last=*/1)
      .save(checkpoint, checkpoint::SaveReason::kOther, checkpoint::Store::IsBest::kNo);
}

}  // namespace

ProfileReport run_profile(const ProfileRequest& request) {
  TrialSession trial = open_trial_session(request.config.config);
  train::Session& session = *trial.session;
  decide_threads(session, std::nullopt, /*sharing=*/1, trial.decisions);
  ProfileReport report;
  warm_up(session);
  make_steps(session, request, report);
  evaluate(session);
  write_checkpoint(session, request);
  const int64_t rows = report.workload.rows;
  report.workload = describe_workload(session, trial.decisions, rows);
  return report;
}

}  // namespace trainer::engine
