// SPDX-License-Identifier: Apache-2.0
#include "trainer/workflows/experiments/resume_selftest.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>  // mkdtemp on macOS

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/io/atomic_file.h"
#include "trainer/base/io/log.h"
#include "trainer/base/io/optional_library.h"
#include "trainer/base/io/user_folders.h"
#include "trainer/base/parallel/cpus.h"
#include "trainer/base/signals.h"
#include "trainer/base/text/format.h"
#include "trainer/base/time/stopwatch.h"
#include "trainer/config/dump.h"
#include "trainer/run/checkpoint/checkpoint.h"
#include "trainer/run/checkpoint/resume_point.h"

#include "workflows/experiments/run_comparison.h"
#include "workflows/experiments/run_series.h"

namespace trainer::experiments {
namespace fs = std::filesystem;
namespace {

// The built-in run uses everything that is hard to resume: random numbers within a step, running
// means, gradient accumulation with a short last window, counters, checkpoints within an epoch.
constexpr const char* kBuiltInRun = R"(tag: selftest
data:
  source: synthetic
  synthetic: {num_samples: 4000, num_features: 20, num_classes: 3, separation: 0.2}
model: {hidden_sizes: [64, 64], dropout: 0.2, norm: batch}
training:
  epochs: 14
  batch_size: 24
  gradient_accumulation_steps: 3
  schedule: {warmup_epochs: 0.5}
  early_stopping: {patience: 1000}
checkpoint: {every_steps: 7}
logging: {save_interval: 5}
)";

/// Thrown when a signal asked to stop.
struct Interrupted {
  int signal;
};

/// A new temporary folder, removed with its content at the end of the scope.
class WorkFolder {
 public:
  WorkFolder() {
    std::string name = (temporary_folder() / "trainer_selftest_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
      throw Error(ErrorKind::kFileSystem,
                  fmt::format("cannot create the folder {}: {}", name, std::strerror(errno)));
    }
    path_ = name;
  }
  ~WorkFolder() {
    std::error_code ignored;
    if (!keep_) fs::remove_all(path_, ignored);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;

  void keep() { keep_ = true; }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
  bool keep_ = false;
};

// Sleeps for `seconds`, but for no more than 2 ms. Throws Interrupted if a signal asked to stop.
void pause(double seconds) {
  constexpr double kPoll = 0.002;
  std::this_thread::sleep_for(std::chrono::duration<double>(std::clamp(seconds, 0.0, kPoll)));
  if (const int signal = stop_request(); signal != 0) throw Interrupted{signal};
}

/// Trains the uninterrupted run and the killed ones in one folder.
class ResumeTest {
 public:
  ResumeTest(fs::path folder, int64_t num_kills)
      : folder_(std::move(folder)), num_kills_(num_kills), random_(std::random_device()()) {}

  /// Returns the number of threads of the uninterrupted run.
  int64_t num_threads() const {
    return checkpoint::read(checkpoint::find_checkpoint(uninterrupted() / "latest")).num_threads;
  }

  void train_uninterrupted() {
    const RunSnapshot before = snapshot_runs(uninterrupted());
    const Stopwatch stopwatch;
    ChildProcess child = start(uninterrupted(), {});
    wait_for_training(child, uninterrupted(), before);
    loading_seconds_ = stopwatch.seconds();
    wait_for_success(child);
    training_seconds_ = stopwatch.seconds() - loading_seconds_;
    max_wait_ = training_seconds_ / 2;  // so that a run is killed more than once
    log::info(fmt::format("the uninterrupted run took {}, {} of it for training",
                          human_duration(stopwatch.seconds()), human_duration(training_seconds_)));
  }

  void train_with_kills() {
    constexpr int kMaxRunsWithoutKill = 20;
    int runs_without_kill = 0;
    do {
      const int64_t kills_before = num_killed_;
      ++num_runs_;
      train_until_finished(interrupted());
      compare(num_killed_ - kills_before);
      runs_without_kill = num_killed_ > kills_before ? 0 : runs_without_kill + 1;
      if (runs_without_kill > 0) max_wait_ *= 0.7;  // runs have become faster than the first
      if (runs_without_kill == kMaxRunsWithoutKill) {
        throw Error(ErrorKind::kRuntime,
                    "the run is too short to be killed while it trains; increase training.epochs");
      }
    } while (num_killed_ < num_kills_);
  }

  ResumeSelftestReport report() const {
    ResumeSelftestReport report;
    report.end =
        checkpoint::read(checkpoint::find_checkpoint(uninterrupted() / "latest")).state.position;
    report.training_seconds = training_seconds_;
    report.num_runs = num_runs_;
    report.num_kills = num_killed_;
    report.num_kills_in_training = num_killed_in_training_;
    return report;
  }

 private:
  static std::string times(int64_t count) {
    return count == 1 ? "once" : fmt::format("{} times", with_thousands(count));
  }

  fs::path uninterrupted() const { return folder_ / "whole"; }
  fs::path interrupted() const { return folder_ / fmt::format("parts_{}", num_runs_); }
  fs::path output() const { return folder_ / "output.txt"; }

  ChildProcess start(const fs::path& output_dir, const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {"train",        "-q",
                                          "--config",     (folder_ / "config.yaml").string(),
                                          "--output-dir", output_dir.string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return {executable_path(), arguments, output()};
  }

  // This function and the next one return early if the child ends.
  static void wait_for_training(ChildProcess& child, const fs::path& output_dir,
                                const RunSnapshot& before) {
    while (!child.exit_code() && snapshot_runs(output_dir) == before) pause(1);
  }

  static void wait_for(ChildProcess& child, double seconds) {
    const Stopwatch stopwatch;
    while (!child.exit_code() && stopwatch.seconds() < seconds) {
      pause(seconds - stopwatch.seconds());
    }
  }

  void wait_for_success(ChildProcess& child) const {
    while (!child.exit_code()) pause(1);
    if (child.exit_code() == 0) return;
    std::ifstream stream(output());
    std::string output_text((std::istreambuf_iterator<char>(stream)), {});
    output_text.erase(output_text.find_last_not_of('\n') + 1);
    throw Error(ErrorKind::kRuntime, fmt::format("a run exited with code {} and printed:\n{}",
                                                 *child.exit_code(), output_text));
  }

  double random_seconds(double limit) {
    return std::uniform_real_distribution<double>(0, limit)(random_);
  }

  // Most kills should happen during training, some while LibTorch and the data are loaded.
  void wait_before_kill(ChildProcess& child, const fs::path& output_dir,
                        const RunSnapshot& before) {
    constexpr int kRandomKillInterval = 5;
    if (num_killed_ % kRandomKillInterval == kRandomKillInterval - 1) {
      wait_for(child, random_seconds(loading_seconds_ + training_seconds_));
      return;
    }
    wait_for_training(child, output_dir, before);
    wait_for(child, random_seconds(max_wait_));
  }

  void train_until_finished(const fs::path& output_dir) {
    while (num_killed_ < num_kills_) {
      const RunSnapshot before = snapshot_runs(output_dir);
      ChildProcess child = start(output_dir, {"--resume", "auto"});
      wait_before_kill(child, output_dir, before);
      if (child.kill() != 128 + SIGKILL) {
        wait_for_success(child);
        return;
      }
      record_kill(output_dir, snapshot_runs(output_dir) != before);
    }
    ChildProcess child = start(output_dir, {"--resume", "auto"});
    wait_for_success(child);
  }

  void record_kill(const fs::path& output_dir, bool in_training) {
    ++num_killed_;
    if (in_training) ++num_killed_in_training_;
    const auto step = last_recorded_step(output_dir);
    log::info(fmt::format(
        "kill {} of {} {}{}", num_killed_, num_kills_, in_training ? "" : "while loading, ",
        step ? "after step " + with_thousands(*step) : "before the first record"));
  }

  void compare(int64_t num_kills) const {
    const std::string run = fmt::format("run {}, killed {},", num_runs_, times(num_kills));
    if (const auto difference =
            first_run_difference(uninterrupted() / "latest", interrupted() / "latest")) {
      throw Error(ErrorKind::kRuntime,
                  fmt::format("{} differs from the reference: {}", run, *difference));
    }
    log::info(fmt::format("{} is bit for bit identical", run));
    std::error_code ignored;
    fs::remove_all(interrupted(), ignored);
  }

  fs::path folder_;
  int64_t num_kills_;
  std::mt19937 random_;
  double loading_seconds_ = 0;
  double training_seconds_ = 0;
  double max_wait_ = 0;
  int64_t num_runs_ = 0;
  int64_t num_killed_ = 0;
  int64_t num_killed_in_training_ = 0;
};

// Returns the configuration of all runs as YAML, with the origin of each value.
std::string resolved_config(const ResumeSelftestRequest& request) {
  std::vector<config::Document> documents = request.documents;
  if (documents.empty()) documents.push_back({"built-in run", kBuiltInRun, ""});
  return config::dump(config::load(documents, request.overrides));
}

ResumeSelftestReport run_test(const fs::path& folder, int64_t num_kills) {
  ResumeTest test(folder, num_kills);
  test.train_uninterrupted();
  // A run that is killed before its first checkpoint starts again, which must use the same number
  // of threads.
  if (!openmp_threads(std::getenv("OMP_NUM_THREADS"))) {
    setenv("OMP_NUM_THREADS", std::to_string(test.num_threads()).c_str(), /*overwrite=*/1);
  }
  test.train_with_kills();
  return test.report();
}

}  // namespace

ResumeSelftestReport selftest_resume(const ResumeSelftestRequest& request) {
  const std::string config = resolved_config(request);
  WorkFolder folder;
  watch_signals();
  ResumeSelftestReport report;
  try {
    write_file_atomically(folder.path() / "config.yaml", config);
    report = run_test(folder.path(), request.num_kills);
  } catch (const Interrupted& interrupted) {
    report.stop_signal = interrupted.signal;
    return report;
  } catch (const Error& error) {
    folder.keep();
    throw Error(error.kind(),
                fmt::format("{}\nthe runs are kept in {}", error.what(), folder.path().string()));
  }
  unwatch_signals();
  return report;
}

}  // namespace trainer::experiments
