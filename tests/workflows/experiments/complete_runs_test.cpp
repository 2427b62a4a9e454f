// SPDX-License-Identifier: Apache-2.0
#include "workflows/experiments/complete_runs.h"

#include <signal.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/base/error.h"
#include "trainer/config/dump.h"

#include "support/asleep.h"
#include "support/child.h"
#include "support/error_of.h"
#include "support/files.h"
#include "support/quiet_log.h"
#include "support/temporary_folder.h"
#include "workflows/experiments/run_series.h"

namespace trainer::experiments {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

/// One rank of two, with runs that write their configuration and a summary instead of training.
class CompleteRunsTest : public testing::Test {
 protected:
  CompleteRunsTest() {
    series_.folder = folder_.path();
    become(0);
    for (const char* tag : {"fold_1", "fold_2", "fold_3"}) {
      runs_.push_back({.tag = tag, .name = std::string("run ") + tag});
    }
  }

  void become(int64_t rank) { series_.place = {launch::Launcher::kVariables, rank, 2, rank, 2, 0}; }

  fs::path run_dir(const std::string& tag) const {
    return folder_.path() / ("20260101_000000_" + tag);
  }

  std::unique_ptr<RunLock> lock(const std::string& tag) const {
    return RunLock::try_take(folder_.path() / ("." + tag + ".lock"));
  }

  /// What a training leaves.
  RunOutcome train(const RunJob& job) {
    const std::string& tag = job.config.config.tag;
    EXPECT_EQ(job.place, series_.place);
    EXPECT_EQ(lock(tag), nullptr);
    trained_.push_back(tag);
    if (tag == stopping_) return {run_dir(tag), SIGTERM};
    fs::create_directories(run_dir(tag));
    folder_.write((run_dir(tag) / "config_resolved.yaml").string(), config::dump(job.config));
    folder_.write((run_dir(tag) / "summary.json").string(), "{}");
    return {run_dir(tag), 0};
  }

  void write_run(const std::string& tag) {
    const std::string stopping = std::exchange(stopping_, "");
    complete_run(series_, {.tag = tag}, 0, [&](const RunJob& job) {
      const std::unique_ptr<RunLock> held = lock(tag);  // unless the test has it
      return train(job);
    });
    trained_.clear();
    stopping_ = stopping;
  }

  SeriesEnd complete() {
    return complete_runs(
        series_, runs_, [&](const RunJob& job) { return train(job); },
        [&](std::size_t index, const fs::path& dir) {
          EXPECT_EQ(dir, run_dir(runs_[index].tag));
          complete_.push_back(runs_[index].name);
          ++num_complete_;
        });
  }

  const test::QuietLog quiet_;
  test::TemporaryFolder folder_;
  RunSeries series_;
  std::vector<SeriesRun> runs_;
  std::string stopping_;  // the run that a signal stops
  Names trained_;
  Names complete_;
  std::atomic<int> num_complete_{0};  // for other threads
};

const Names kRunNames = {"run fold_1", "run fold_2", "run fold_3"};

TEST_F(CompleteRunsTest, Rank0TrainsAllIfNobodyElseDoes) {
  EXPECT_EQ(complete().stop_signal, 0);
  EXPECT_EQ(trained_, (Names{"fold_1", "fold_2", "fold_3"}));
  EXPECT_EQ(complete_, kRunNames);
  EXPECT_EQ(test::file_names(folder_.path()),
            (Names{"20260101_000000_fold_1", "20260101_000000_fold_2", "20260101_000000_fold_3",
                   "latest"}));
}

TEST_F(CompleteRunsTest, AnotherRankTrainsWhatIsFreeAndCollectsNothing) {
  become(1);
  write_run("fold_1");
  const auto taken = lock("fold_2");
  EXPECT_EQ(complete().stop_signal, 0);
  EXPECT_EQ(trained_, Names{"fold_3"});
  EXPECT_EQ(complete_, Names{});
}

TEST_F(CompleteRunsTest, Rank0WaitsForARunThatAnotherRankCompletes) {
  auto taken = lock("fold_1");
  auto all = std::async(std::launch::async, [&] { return complete(); });
  // It trains the others first, and then waits.
  test::look_until([&] { return fs::exists(run_dir("fold_3") / "summary.json"); });
  EXPECT_EQ(num_complete_, 0);
  fs::create_directories(run_dir("fold_1"));
  folder_.write((run_dir("fold_1") / "config_resolved.yaml").string(),
                config::dump(run_config(series_, runs_[0])));
  folder_.write((run_dir("fold_1") / "summary.json").string(), "{}");
  taken.reset();
  EXPECT_EQ(all.get().stop_signal, 0);
  EXPECT_EQ(trained_, (Names{"fold_2", "fold_3"}));
  EXPECT_EQ(complete_, kRunNames);
}

// Its summary may be of fewer epochs: it begins with writing the configuration.
TEST_F(CompleteRunsTest, ARunIsNotCompleteWhileAnotherRankHasIt) {
  for (const SeriesRun& run : runs_) write_run(run.tag);
  auto taken = lock("fold_2");
  auto all = std::async(std::launch::async, [&] { return complete(); });
  const auto is_over = [&] {
    return all.wait_for(std::chrono::milliseconds(0)) == std::future_status::ready;
  };
  test::look_until([&] { return num_complete_ > 0 || is_over(); });  // it waits, or not
  EXPECT_FALSE(is_over());
  EXPECT_EQ(num_complete_, 1);
  fs::remove(run_dir("fold_2") / "summary.json");
  taken.reset();
  EXPECT_EQ(all.get().stop_signal, 0);
  EXPECT_EQ(trained_, Names{"fold_2"});
}

TEST_F(CompleteRunsTest, Rank0TakesOverTheRunOfARankThatDies) {
  test::Child other([&] {
    become(1);
    complete_runs(series_, runs_,
                  [](const RunJob&) -> RunOutcome {
                    raise(SIGSTOP);
                    return {};
                  },
                  {});
    return 0;
  });
  ASSERT_TRUE(other.wait_for_stop());
  auto all = std::async(std::launch::async, [&] { return complete(); });
  test::look_until([&] { return fs::exists(run_dir("fold_3") / "summary.json"); });
  other.send(SIGKILL);
  EXPECT_EQ(other.wait(), 128 + SIGKILL);
  EXPECT_EQ(all.get().stop_signal, 0);
  EXPECT_EQ(trained_, (Names{"fold_2", "fold_3", "fold_1"}));
  EXPECT_EQ(complete_, kRunNames);
}

TEST_F(CompleteRunsTest, ASignalStopsARun) {
  stopping_ = "fold_2";
  for (const int64_t rank : {0, 1}) {
    become(rank);
    const SeriesEnd end = complete();
    EXPECT_EQ(end.stop_signal, SIGTERM);
    EXPECT_EQ(end.stopped, "run fold_2");
  }
  EXPECT_EQ(complete_, Names{"run fold_1"});
  EXPECT_EQ(trained_, (Names{"fold_1", "fold_2", "fold_2"}));
}

TEST_F(CompleteRunsTest, ASignalEndsTheWait) {
  test::Child program([&] {
    const auto taken = lock("fold_2");
    const SeriesEnd end = complete();
    const bool is_right = end.stop_signal == SIGTERM && end.stopped == "run fold_2" &&
                          trained_ == Names{"fold_1", "fold_3"};
    return is_right ? 0 : 1;
  });
  // Then it watches signals: it does so before it sleeps for the first time.
  test::look_until([&] { return fs::exists(run_dir("fold_3") / "summary.json"); });
  test::wait_until_child_sleeps(program.id());
  program.send(SIGTERM);
  EXPECT_EQ(program.wait(), 0);
}

TEST_F(CompleteRunsTest, AnErrorLeavesTheRunToOthers) {
  const auto fail = [](const RunJob&) -> RunOutcome { throw Error(ErrorKind::kData, "no rows"); };
  EXPECT_EQ(test::message_of(ErrorKind::kData, [&] { complete_runs(series_, runs_, fail, {}); }),
            "no rows");
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(CompleteRunsTest, AFolderThatRanksDoNotShareIsNamed) {
  become(1);
  series_.folder = folder_.path() / "none";
  EXPECT_EQ(test::message_of(ErrorKind::kFileSystem, [&] { complete(); }),
            series_.folder.string() +
                ": expected the folder that rank 0 made, found none; set output_dir to a folder "
                "that all ranks share");
}

}  // namespace
}  // namespace trainer::experiments
